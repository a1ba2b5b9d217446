ALTER TABLE "quotas" VALIDATE CONSTRAINT "quotas_type";--> statement-breakpoint
-- Projects that exist get the quotas of a new project.
INSERT INTO quotas (project_id, type, max) SELECT id, q.type, q.max FROM projects,
  (VALUES ('images', 200), ('image_gib', 100000), ('backups', 5000), ('backup_gib', 5000000)) q (type, max);
