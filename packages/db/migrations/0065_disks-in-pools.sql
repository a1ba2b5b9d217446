ALTER TABLE "disks" ADD COLUMN "pool_id" uuid;--> statement-breakpoint
ALTER TABLE "disks" ADD COLUMN "volume_id" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "disks" ADD COLUMN "volume_parent_id" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "disks" ADD COLUMN "volume_problem" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "disks" ADD COLUMN "wants_key" boolean DEFAULT false NOT NULL;
