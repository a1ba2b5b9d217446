ALTER TABLE "console_tickets" ADD COLUMN "login_id" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "console_tickets" ADD COLUMN "token_generation" bigint;