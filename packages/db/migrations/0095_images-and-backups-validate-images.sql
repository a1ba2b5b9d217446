ALTER TABLE "images" VALIDATE CONSTRAINT "images_project_id_projects_id_fk";
