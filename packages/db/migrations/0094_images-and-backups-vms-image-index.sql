CREATE INDEX CONCURRENTLY "vms_image" ON "vms" USING btree ("image_id");
