ALTER TABLE "fleet_authorities" DROP CONSTRAINT "fleet_authorities_one";--> statement-breakpoint
ALTER TABLE "fleet_authorities" ADD COLUMN "state" text DEFAULT 'issuing' NOT NULL;--> statement-breakpoint
ALTER TABLE "fleet_authorities" ADD COLUMN "withdrawn_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "host_certificates" ADD COLUMN "authority" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "hosts" ADD COLUMN "certificate_authority" text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "fleet_authorities_trusted" ON "fleet_authorities" USING btree ("state") WHERE state <> 'withdrawn';--> statement-breakpoint
ALTER TABLE "fleet_authorities" ADD CONSTRAINT "fleet_authorities_state" CHECK ("fleet_authorities"."state" in ('issuing', 'retiring', 'withdrawn'));