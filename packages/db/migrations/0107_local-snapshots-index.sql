CREATE INDEX CONCURRENTLY "snapshots_host" ON "snapshots" USING btree ("host_id") WHERE host_id is not null;
