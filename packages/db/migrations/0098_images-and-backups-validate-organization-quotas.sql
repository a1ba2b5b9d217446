ALTER TABLE "organization_quotas" VALIDATE CONSTRAINT "organization_quotas_type";
