ALTER TABLE "snapshots" ADD COLUMN "freeze_vm_id" uuid;--> statement-breakpoint
ALTER TABLE "snapshots" ADD COLUMN "freeze_state" text DEFAULT 'none' NOT NULL;--> statement-breakpoint
ALTER TABLE "snapshots" ADD CONSTRAINT "snapshots_freeze_state" CHECK ("snapshots"."freeze_state" in ('none', 'wanted', 'frozen', 'taken', 'held', 'expired', 'failed')) NOT VALID;
