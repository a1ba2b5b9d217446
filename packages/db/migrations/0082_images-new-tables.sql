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
ALTER TABLE "custom_images" ADD CONSTRAINT "custom_images_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "custom_images" ADD CONSTRAINT "custom_images_pool_id_storage_pools_id_fk" FOREIGN KEY ("pool_id") REFERENCES "public"."storage_pools"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "custom_images" ADD CONSTRAINT "custom_images_location_locations_name_fk" FOREIGN KEY ("location") REFERENCES "public"."locations"("name") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "custom_images_project" ON "custom_images" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "custom_images_snapshot" ON "custom_images" USING btree ("source_snapshot_id");--> statement-breakpoint
CREATE INDEX "custom_images_unsettled" ON "custom_images" USING btree ("location","id") WHERE desired_state = 'deleted' or (observed_state = 'none' and uploaded);
