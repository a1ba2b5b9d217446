ALTER TABLE "organization_quotas" VALIDATE CONSTRAINT "organization_quotas_type";--> statement-breakpoint
INSERT INTO organization_quotas (organization_id, type, max) SELECT id, 'public_addresses', 100 FROM organizations;
