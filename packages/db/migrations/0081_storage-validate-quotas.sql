ALTER TABLE "quotas" VALIDATE CONSTRAINT "quotas_type";--> statement-breakpoint
-- Projects that exist get the quotas of a new project.
INSERT INTO quotas (project_id, type, max) SELECT id, q.type, q.max FROM projects,
  (VALUES ('snapshots', 2000), ('snapshot_gib', 1000000)) q (type, max);
