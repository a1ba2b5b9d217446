CREATE INDEX CONCURRENTLY "disks_restoring" ON "disks" USING btree ("id") WHERE restore_snapshot_id is not null;
