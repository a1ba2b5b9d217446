CREATE TABLE "backup_schedules" (
	"disk_id" uuid PRIMARY KEY NOT NULL,
	"every_hours" integer NOT NULL,
	"keep" integer NOT NULL,
	"next_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "backup_schedules_every" CHECK ("backup_schedules"."every_hours" between 1 and 8760),
	CONSTRAINT "backup_schedules_keep" CHECK ("backup_schedules"."keep" between 1 and 1000)
);--> statement-breakpoint
CREATE TABLE "backups" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"name" text NOT NULL,
	"tags" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"disk_id" uuid NOT NULL,
	"pool_id" uuid NOT NULL,
	"location" text NOT NULL,
	"disk_type" text NOT NULL,
	"size_gib" integer NOT NULL,
	"block_size" integer NOT NULL,
	"wants_full" boolean DEFAULT false NOT NULL,
	"scheduled" boolean DEFAULT false NOT NULL,
	"desired_state" text DEFAULT 'present' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"observed_state" text DEFAULT 'none' NOT NULL,
	"problem" text DEFAULT '' NOT NULL,
	"parent_id" uuid,
	"has_snapshot" boolean DEFAULT true NOT NULL,
	"file_bytes" bigint DEFAULT 0 NOT NULL,
	"sha256" text DEFAULT '' NOT NULL,
	"state" text GENERATED ALWAYS AS (case
          when desired_state = 'deleted' then 'deleting'
          when observed_state = 'none' then 'creating'
          else observed_state end) STORED NOT NULL,
	CONSTRAINT "backups_name_key" UNIQUE("project_id","name"),
	CONSTRAINT "backups_disk_type" CHECK ("backups"."disk_type" in ('persistent-ssd', 'shared-volume')),
	CONSTRAINT "backups_desired_state" CHECK ("backups"."desired_state" in ('present', 'deleted')),
	CONSTRAINT "backups_observed_state" CHECK ("backups"."observed_state" in ('none', 'ready', 'failed')),
	CONSTRAINT "backups_size" CHECK ("backups"."size_gib" between 1 and 10240),
	CONSTRAINT "backups_file" CHECK ("backups"."observed_state" <> 'ready' or length("backups"."sha256") = 64)
);--> statement-breakpoint
ALTER TABLE "backup_schedules" ADD CONSTRAINT "backup_schedules_disk_id_disks_id_fk" FOREIGN KEY ("disk_id") REFERENCES "public"."disks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "backups" ADD CONSTRAINT "backups_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "backups" ADD CONSTRAINT "backups_pool_id_storage_pools_id_fk" FOREIGN KEY ("pool_id") REFERENCES "public"."storage_pools"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "backups" ADD CONSTRAINT "backups_location_locations_name_fk" FOREIGN KEY ("location") REFERENCES "public"."locations"("name") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "backup_schedules_next" ON "backup_schedules" USING btree ("next_at");--> statement-breakpoint
CREATE INDEX "backups_project" ON "backups" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "backups_disk" ON "backups" USING btree ("disk_id","id");--> statement-breakpoint
CREATE INDEX "backups_parent" ON "backups" USING btree ("parent_id") WHERE parent_id is not null;--> statement-breakpoint
CREATE INDEX "backups_unsettled" ON "backups" USING btree ("location","id") WHERE desired_state = 'deleted' or observed_state = 'none';--> statement-breakpoint
CREATE INDEX "backups_with_snapshot" ON "backups" USING btree ("location","disk_id") WHERE has_snapshot;
