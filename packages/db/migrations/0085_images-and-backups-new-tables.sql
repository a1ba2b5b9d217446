CREATE TABLE "backup_schedules" (
	"disk_id" uuid PRIMARY KEY NOT NULL,
	"every_hours" integer NOT NULL,
	"keep" integer NOT NULL,
	"next_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "backup_schedules_every" CHECK ("backup_schedules"."every_hours" between 1 and 8760),
	CONSTRAINT "backup_schedules_keep" CHECK ("backup_schedules"."keep" between 1 and 1000)
);
--> statement-breakpoint
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
);
--> statement-breakpoint
CREATE TABLE "custom_images" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"pool_id" uuid NOT NULL,
	"location" text NOT NULL,
	"visibility" text DEFAULT 'project' NOT NULL,
	"size_gib" integer NOT NULL,
	"source_snapshot_id" uuid,
	"source_url" text DEFAULT '' NOT NULL,
	"format" text DEFAULT 'raw' NOT NULL,
	"sha256" text DEFAULT '' NOT NULL,
	"file_bytes" bigint,
	"uploaded" boolean DEFAULT true NOT NULL,
	"desired_state" text DEFAULT 'present' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"observed_state" text DEFAULT 'none' NOT NULL,
	"problem" text DEFAULT '' NOT NULL,
	"state" text GENERATED ALWAYS AS (case
          when desired_state = 'deleted' then 'deleted'
          when not uploaded then 'uploading'
          when observed_state = 'none' then 'creating'
          else observed_state end) STORED NOT NULL,
	CONSTRAINT "custom_images_visibility" CHECK ("custom_images"."visibility" in ('organization', 'project')),
	CONSTRAINT "custom_images_format" CHECK ("custom_images"."format" in ('raw', 'qcow2', 'vmdk')),
	CONSTRAINT "custom_images_desired_state" CHECK ("custom_images"."desired_state" in ('present', 'deleted')),
	CONSTRAINT "custom_images_observed_state" CHECK ("custom_images"."observed_state" in ('none', 'ready', 'failed')),
	CONSTRAINT "custom_images_size" CHECK ("custom_images"."size_gib" between 1 and 10240)
);
--> statement-breakpoint
CREATE TABLE "disk_limits" (
	"disk_type" text PRIMARY KEY NOT NULL,
	"total_iops" bigint DEFAULT 0 NOT NULL,
	"read_iops" bigint DEFAULT 0 NOT NULL,
	"write_iops" bigint DEFAULT 0 NOT NULL,
	"total_bytes_per_second" bigint DEFAULT 0 NOT NULL,
	"read_bytes_per_second" bigint DEFAULT 0 NOT NULL,
	"write_bytes_per_second" bigint DEFAULT 0 NOT NULL,
	"iops_per_gib" bigint DEFAULT 0 NOT NULL,
	"bytes_per_second_per_gib" bigint DEFAULT 0 NOT NULL,
	"burst_percent" integer DEFAULT 0 NOT NULL,
	"burst_seconds" integer DEFAULT 0 NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "disk_limits_disk_type" CHECK ("disk_limits"."disk_type" in ('persistent-ssd')),
	CONSTRAINT "disk_limits_not_negative" CHECK (least("disk_limits"."total_iops", "disk_limits"."read_iops", "disk_limits"."write_iops", "disk_limits"."total_bytes_per_second", "disk_limits"."read_bytes_per_second",
        "disk_limits"."write_bytes_per_second", "disk_limits"."iops_per_gib", "disk_limits"."bytes_per_second_per_gib", "disk_limits"."burst_percent", "disk_limits"."burst_seconds") >= 0),
	CONSTRAINT "disk_limits_total_or_each" CHECK (("disk_limits"."total_iops" + "disk_limits"."iops_per_gib" = 0 or "disk_limits"."read_iops" + "disk_limits"."write_iops" = 0)
        and ("disk_limits"."total_bytes_per_second" + "disk_limits"."bytes_per_second_per_gib" = 0 or "disk_limits"."read_bytes_per_second" + "disk_limits"."write_bytes_per_second" = 0))
);
--> statement-breakpoint
ALTER TABLE "backup_schedules" ADD CONSTRAINT "backup_schedules_disk_id_disks_id_fk" FOREIGN KEY ("disk_id") REFERENCES "public"."disks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "backups" ADD CONSTRAINT "backups_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "backups" ADD CONSTRAINT "backups_pool_id_storage_pools_id_fk" FOREIGN KEY ("pool_id") REFERENCES "public"."storage_pools"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "backups" ADD CONSTRAINT "backups_location_locations_name_fk" FOREIGN KEY ("location") REFERENCES "public"."locations"("name") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "custom_images" ADD CONSTRAINT "custom_images_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "custom_images" ADD CONSTRAINT "custom_images_pool_id_storage_pools_id_fk" FOREIGN KEY ("pool_id") REFERENCES "public"."storage_pools"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "custom_images" ADD CONSTRAINT "custom_images_location_locations_name_fk" FOREIGN KEY ("location") REFERENCES "public"."locations"("name") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "backup_schedules_next" ON "backup_schedules" USING btree ("next_at");--> statement-breakpoint
CREATE INDEX "backups_project" ON "backups" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "backups_disk" ON "backups" USING btree ("disk_id","id");--> statement-breakpoint
CREATE INDEX "backups_parent" ON "backups" USING btree ("parent_id") WHERE parent_id is not null;--> statement-breakpoint
CREATE INDEX "backups_unsettled" ON "backups" USING btree ("location","id") WHERE desired_state = 'deleted' or observed_state = 'none';--> statement-breakpoint
CREATE INDEX "backups_with_snapshot" ON "backups" USING btree ("location","disk_id") WHERE has_snapshot;--> statement-breakpoint
CREATE INDEX "custom_images_project" ON "custom_images" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "custom_images_snapshot" ON "custom_images" USING btree ("source_snapshot_id");--> statement-breakpoint
CREATE INDEX "custom_images_unsettled" ON "custom_images" USING btree ("location","id") WHERE desired_state = 'deleted' or (observed_state = 'none' and uploaded);--> statement-breakpoint
INSERT INTO "disk_limits" ("disk_type") VALUES ('persistent-ssd');
