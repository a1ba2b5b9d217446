ALTER TABLE "vms" ADD COLUMN "on_host_failure" text DEFAULT 'leave' NOT NULL;--> statement-breakpoint
ALTER TABLE "vms" ADD CONSTRAINT "vms_on_host_failure" CHECK ("vms"."on_host_failure" in ('leave', 'restart')) NOT VALID;
