CREATE TABLE "free_vnis" (
	"vni" integer PRIMARY KEY NOT NULL,
	"freed_at" timestamp (3) with time zone,
	"host_ids" uuid[] DEFAULT '{}' NOT NULL,
	"numbers" bigint[] DEFAULT '{}' NOT NULL
);
--> statement-breakpoint
CREATE TABLE "vni_pool" (
	"id" integer PRIMARY KEY DEFAULT 1 NOT NULL,
	"next" bigint NOT NULL,
	"last" bigint NOT NULL,
	CONSTRAINT "vni_pool_one" CHECK ("vni_pool"."id" = 1)
);
--> statement-breakpoint
-- The circle begins after the last number that the sequence handed out, so that numbers of networks that were
-- deleted before come last. It skips numbers in use.
INSERT INTO vni_pool (next, last) SELECT used + 1, used + 16777215
FROM (SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('networks', 'vni')::regclass), 0) AS used) s;--> statement-breakpoint
ALTER TABLE "networks" ALTER COLUMN "vni" DROP IDENTITY;--> statement-breakpoint
CREATE INDEX "free_vnis_unused" ON "free_vnis" USING btree ("vni") WHERE freed_at is null;--> statement-breakpoint
CREATE INDEX "free_vnis_freed" ON "free_vnis" USING btree ("freed_at","vni") WHERE freed_at is not null;