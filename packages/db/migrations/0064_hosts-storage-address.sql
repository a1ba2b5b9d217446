ALTER TABLE "hosts" ADD COLUMN "storage_address" "inet";--> statement-breakpoint
ALTER TABLE "hosts" ADD COLUMN "storage_fence_problem" text DEFAULT '' NOT NULL;
