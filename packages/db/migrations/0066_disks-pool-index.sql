CREATE INDEX CONCURRENTLY "disks_pool" ON "disks" USING btree ("pool_id") WHERE pool_id is not null;
