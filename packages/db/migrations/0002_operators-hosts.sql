CREATE TABLE "join_tokens" (
	"id" uuid PRIMARY KEY NOT NULL,
	"hash" text NOT NULL,
	"location" text NOT NULL,
	"created_by" uuid NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"used_at" timestamp (3) with time zone,
	"host_id" uuid,
	CONSTRAINT "join_tokens_hash_key" UNIQUE("hash"),
	CONSTRAINT "join_tokens_use" CHECK ("join_tokens"."host_id" is null or "join_tokens"."used_at" is not null)
);
--> statement-breakpoint
ALTER TABLE "hosts" DROP CONSTRAINT "hosts_state";--> statement-breakpoint
ALTER TABLE "drives" DROP CONSTRAINT "drives_host_id_hosts_id_fk";
--> statement-breakpoint
ALTER TABLE "gpus" DROP CONSTRAINT "gpus_host_id_hosts_id_fk";
--> statement-breakpoint
ALTER TABLE "drives" ADD COLUMN "quarantine_reason" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "gpus" ADD COLUMN "quarantine_reason" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "hosts" ADD COLUMN "admin_state" text DEFAULT 'active' NOT NULL;--> statement-breakpoint
-- What was asked of a host stood in its state until now; what it had been before is not known.
UPDATE "hosts" SET "admin_state" = "state", "state" = 'ready' WHERE "state" IN ('cordoned', 'draining');--> statement-breakpoint
ALTER TABLE "join_tokens" ADD CONSTRAINT "join_tokens_location_locations_name_fk" FOREIGN KEY ("location") REFERENCES "public"."locations"("name") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "join_tokens" ADD CONSTRAINT "join_tokens_host_id_hosts_id_fk" FOREIGN KEY ("host_id") REFERENCES "public"."hosts"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "join_tokens_host" ON "join_tokens" USING btree ("host_id");--> statement-breakpoint
ALTER TABLE "drives" ADD CONSTRAINT "drives_host_id_hosts_id_fk" FOREIGN KEY ("host_id") REFERENCES "public"."hosts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "gpus" ADD CONSTRAINT "gpus_host_id_hosts_id_fk" FOREIGN KEY ("host_id") REFERENCES "public"."hosts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "hosts" ADD CONSTRAINT "hosts_admin_state" CHECK ("hosts"."admin_state" in ('active', 'cordoned', 'draining'));--> statement-breakpoint
ALTER TABLE "hosts" ADD CONSTRAINT "hosts_state" CHECK ("hosts"."state" in ('ready', 'unreachable', 'fenced'));