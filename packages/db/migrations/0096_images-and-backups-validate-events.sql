ALTER TABLE "events" VALIDATE CONSTRAINT "events_resource_type";
