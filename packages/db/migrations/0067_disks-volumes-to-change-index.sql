CREATE INDEX CONCURRENTLY "disks_volumes_to_change" ON "disks" USING btree ("id") WHERE pool_id is not null and (observed_size_gib is null or observed_size_gib < size_gib);
