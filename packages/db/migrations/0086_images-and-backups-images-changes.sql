ALTER TABLE "images" DROP CONSTRAINT "images_name_key";--> statement-breakpoint
ALTER TABLE "images" ADD COLUMN "project_id" uuid;--> statement-breakpoint
ALTER TABLE "images" ADD CONSTRAINT "images_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action NOT VALID;
