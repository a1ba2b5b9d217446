ALTER TABLE "disks" ADD COLUMN "source_backup_id" uuid;
