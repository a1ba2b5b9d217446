ALTER TABLE "images" DROP CONSTRAINT "images_name_key";--> statement-breakpoint
ALTER TABLE "images" VALIDATE CONSTRAINT "images_project_id_projects_id_fk";
