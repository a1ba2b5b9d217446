CREATE INDEX CONCURRENTLY "disks_wanting_key" ON "disks" USING btree ("id") WHERE wants_key;
