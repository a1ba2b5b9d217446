ALTER TABLE "operations" VALIDATE CONSTRAINT "operations_resource_type";
