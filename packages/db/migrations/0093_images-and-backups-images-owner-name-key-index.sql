CREATE UNIQUE INDEX CONCURRENTLY "images_owner_name_key" ON "images" USING btree ("name",coalesce(project_id, '00000000-0000-0000-0000-000000000000')) WHERE project_id is null or not retired;
