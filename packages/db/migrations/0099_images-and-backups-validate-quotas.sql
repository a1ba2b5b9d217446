ALTER TABLE "quotas" VALIDATE CONSTRAINT "quotas_type";
