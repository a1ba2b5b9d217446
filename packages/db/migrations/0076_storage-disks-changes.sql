ALTER TABLE "disks" ADD COLUMN "source_snapshot_id" uuid;--> statement-breakpoint
ALTER TABLE "disks" ADD COLUMN "restore_snapshot_id" uuid;
