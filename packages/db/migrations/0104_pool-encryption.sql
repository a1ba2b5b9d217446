CREATE TABLE "volume_passphrases" (
	"disk_id" uuid PRIMARY KEY NOT NULL,
	"pool_id" uuid NOT NULL,
	"sealed_passphrase" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "storage_pools" ADD COLUMN "encrypted" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "volume_passphrases" ADD CONSTRAINT "volume_passphrases_pool_id_storage_pools_id_fk" FOREIGN KEY ("pool_id") REFERENCES "public"."storage_pools"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "volume_passphrases_pool" ON "volume_passphrases" USING btree ("pool_id");