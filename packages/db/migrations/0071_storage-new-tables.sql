CREATE TABLE "snapshots" (
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
	"desired_state" text DEFAULT 'present' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"observed_state" text DEFAULT 'none' NOT NULL,
	"problem" text DEFAULT '' NOT NULL,
	"state" text GENERATED ALWAYS AS (case
          when desired_state = 'deleted' then 'deleting'
          when observed_state = 'none' then 'creating'
          else observed_state end) STORED NOT NULL,
	CONSTRAINT "snapshots_name_key" UNIQUE("project_id","name"),
	CONSTRAINT "snapshots_disk_type" CHECK ("snapshots"."disk_type" in ('persistent-ssd', 'shared-volume')),
	CONSTRAINT "snapshots_desired_state" CHECK ("snapshots"."desired_state" in ('present', 'deleted')),
	CONSTRAINT "snapshots_observed_state" CHECK ("snapshots"."observed_state" in ('none', 'ready', 'failed')),
	CONSTRAINT "snapshots_size" CHECK ("snapshots"."size_gib" between 1 and 10240)
);
--> statement-breakpoint
ALTER TABLE "snapshots" ADD CONSTRAINT "snapshots_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "snapshots" ADD CONSTRAINT "snapshots_pool_id_storage_pools_id_fk" FOREIGN KEY ("pool_id") REFERENCES "public"."storage_pools"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "snapshots" ADD CONSTRAINT "snapshots_location_locations_name_fk" FOREIGN KEY ("location") REFERENCES "public"."locations"("name") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "snapshots_project" ON "snapshots" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "snapshots_disk" ON "snapshots" USING btree ("disk_id");--> statement-breakpoint
CREATE INDEX "snapshots_unsettled" ON "snapshots" USING btree ("location","id") WHERE desired_state = 'deleted' or observed_state = 'none';
