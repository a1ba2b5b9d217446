ALTER TABLE "placements" ADD COLUMN "numa_shares" jsonb;--> statement-breakpoint
ALTER TABLE "hosts" ADD COLUMN "enforces_bandwidth" boolean DEFAULT false NOT NULL;