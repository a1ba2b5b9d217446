CREATE TABLE "discarded_volumes" (
	"disk_id" uuid PRIMARY KEY NOT NULL,
	"pool_id" uuid NOT NULL,
	"discarded_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"problem" text DEFAULT '' NOT NULL
);
--> statement-breakpoint
CREATE TABLE "pool_images" (
	"pool_id" uuid NOT NULL,
	"sha256" text NOT NULL,
	"volume_id" text DEFAULT '' NOT NULL,
	"size_gib" integer DEFAULT 0 NOT NULL,
	"problem" text DEFAULT '' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "pool_images_pool_id_sha256_pk" PRIMARY KEY("pool_id","sha256")
);
--> statement-breakpoint
CREATE TABLE "storage_clusters" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"monitors" text[] NOT NULL,
	"user_name" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"fsid" text DEFAULT '' NOT NULL,
	"problem" text DEFAULT '' NOT NULL,
	CONSTRAINT "storage_clusters_name_key" UNIQUE("name")
);
--> statement-breakpoint
CREATE TABLE "storage_fences" (
	"cluster_id" uuid NOT NULL,
	"host_id" uuid NOT NULL,
	"addresses" text[] NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"effective_at" timestamp (3) with time zone,
	"liftable" boolean DEFAULT false NOT NULL,
	CONSTRAINT "storage_fences_cluster_id_host_id_pk" PRIMARY KEY("cluster_id","host_id")
);
--> statement-breakpoint
CREATE TABLE "storage_pools" (
	"id" uuid PRIMARY KEY NOT NULL,
	"cluster_id" uuid NOT NULL,
	"name" text NOT NULL,
	"location" text NOT NULL,
	"disk_type" text NOT NULL,
	"active" boolean DEFAULT true NOT NULL,
	"overcommit_percent" integer DEFAULT 100 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"size_gib" integer,
	"used_gib" integer DEFAULT 0 NOT NULL,
	"allocated_gib" integer DEFAULT 0 NOT NULL,
	"observed_at" timestamp (3) with time zone,
	"problem" text DEFAULT '' NOT NULL,
	CONSTRAINT "storage_pools_name_key" UNIQUE("cluster_id","name"),
	CONSTRAINT "storage_pools_disk_type" CHECK ("storage_pools"."disk_type" in ('persistent-ssd', 'shared-volume')),
	CONSTRAINT "storage_pools_overcommit" CHECK ("storage_pools"."overcommit_percent" between 1 and 100000)
);
--> statement-breakpoint
CREATE TABLE "volume_keys" (
	"entity" text PRIMARY KEY NOT NULL,
	"disk_id" uuid NOT NULL,
	"pool_id" uuid NOT NULL,
	"host_id" uuid,
	"sealed_key" text NOT NULL,
	"revoked" boolean DEFAULT false NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "discarded_volumes" ADD CONSTRAINT "discarded_volumes_pool_id_storage_pools_id_fk" FOREIGN KEY ("pool_id") REFERENCES "public"."storage_pools"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pool_images" ADD CONSTRAINT "pool_images_pool_id_storage_pools_id_fk" FOREIGN KEY ("pool_id") REFERENCES "public"."storage_pools"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "storage_fences" ADD CONSTRAINT "storage_fences_cluster_id_storage_clusters_id_fk" FOREIGN KEY ("cluster_id") REFERENCES "public"."storage_clusters"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "storage_pools" ADD CONSTRAINT "storage_pools_cluster_id_storage_clusters_id_fk" FOREIGN KEY ("cluster_id") REFERENCES "public"."storage_clusters"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "storage_pools" ADD CONSTRAINT "storage_pools_location_locations_name_fk" FOREIGN KEY ("location") REFERENCES "public"."locations"("name") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "volume_keys" ADD CONSTRAINT "volume_keys_pool_id_storage_pools_id_fk" FOREIGN KEY ("pool_id") REFERENCES "public"."storage_pools"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "discarded_volumes_pool" ON "discarded_volumes" USING btree ("pool_id");--> statement-breakpoint
CREATE INDEX "storage_pools_location" ON "storage_pools" USING btree ("location","disk_type");--> statement-breakpoint
CREATE INDEX "volume_keys_disk" ON "volume_keys" USING btree ("disk_id");--> statement-breakpoint
CREATE INDEX "volume_keys_host" ON "volume_keys" USING btree ("host_id");--> statement-breakpoint
CREATE INDEX "volume_keys_revoked" ON "volume_keys" USING btree ("entity") WHERE revoked;
