ALTER TABLE "custom_images" ALTER COLUMN "pool_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "custom_images" ADD COLUMN "host_id" uuid;--> statement-breakpoint
ALTER TABLE "custom_images" ADD COLUMN "content_sha256" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "custom_images" ADD COLUMN "content_bytes" bigint;
