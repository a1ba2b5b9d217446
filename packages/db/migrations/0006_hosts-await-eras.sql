ALTER TABLE "hosts" ADD COLUMN "awaits_era" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "hosts_awaiting_era" ON "hosts" USING btree ("id") WHERE awaits_era;