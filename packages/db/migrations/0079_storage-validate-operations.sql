ALTER TABLE "operations" VALIDATE CONSTRAINT "operations_resource_type";--> statement-breakpoint
ALTER TABLE "operations" VALIDATE CONSTRAINT "operations_name";
