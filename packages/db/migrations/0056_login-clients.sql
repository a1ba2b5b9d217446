ALTER TABLE "refresh_tokens" ADD COLUMN "source_ip" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "refresh_tokens" ADD COLUMN "user_agent" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "refresh_tokens" ADD COLUMN "login_ended_at" timestamp (3) with time zone;