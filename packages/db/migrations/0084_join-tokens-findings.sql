ALTER TABLE "join_tokens" ADD COLUMN "findings" jsonb DEFAULT '[]'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "join_tokens" ADD COLUMN "examined_at" timestamp (3) with time zone;