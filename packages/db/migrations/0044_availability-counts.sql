ALTER TABLE "availabilities" ADD COLUMN "fitting" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "availabilities" ADD COLUMN "lacking" text DEFAULT '' NOT NULL;