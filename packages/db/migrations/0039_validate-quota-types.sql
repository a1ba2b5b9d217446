ALTER TABLE "quotas" VALIDATE CONSTRAINT "quotas_type";--> statement-breakpoint
-- Projects that exist get the quota of a new project.
INSERT INTO quotas (project_id, type, max) SELECT id, 'public_addresses', 20 FROM projects;
