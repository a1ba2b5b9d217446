ALTER TABLE "operations" VALIDATE CONSTRAINT "operations_name";
