ALTER TABLE "organization_quotas" VALIDATE CONSTRAINT "organization_quotas_type";--> statement-breakpoint
-- Organizations that exist get the quotas of a new organization.
INSERT INTO organization_quotas (organization_id, type, max) SELECT id, q.type, q.max FROM organizations,
  (VALUES ('images', 400), ('image_gib', 200000), ('backups', 10000), ('backup_gib', 10000000)) q (type, max);
