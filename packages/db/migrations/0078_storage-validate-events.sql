ALTER TABLE "events" VALIDATE CONSTRAINT "events_resource_type";--> statement-breakpoint
ALTER TABLE "events" VALIDATE CONSTRAINT "events_type";
