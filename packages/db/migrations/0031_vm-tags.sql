ALTER TABLE "vms" ADD COLUMN "tags" jsonb DEFAULT '{}'::jsonb NOT NULL;
