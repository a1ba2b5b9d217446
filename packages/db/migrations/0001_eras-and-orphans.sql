CREATE TABLE "orphan_interfaces" (
	"id" uuid NOT NULL,
	"orphan_id" uuid NOT NULL,
	"network_id" uuid NOT NULL,
	"mac_address" text NOT NULL,
	"private_address" "inet" NOT NULL,
	"public_address" "inet",
	CONSTRAINT "orphan_interfaces_orphan_id_id_pk" PRIMARY KEY("orphan_id","id")
);
--> statement-breakpoint
CREATE TABLE "orphans" (
	"id" uuid PRIMARY KEY NOT NULL,
	"host_id" uuid NOT NULL,
	"vm_id" uuid NOT NULL,
	"project_id" uuid,
	"type" text DEFAULT '' NOT NULL,
	"name" text DEFAULT '' NOT NULL,
	"revision" bigint NOT NULL,
	"generation" bigint NOT NULL,
	"description" jsonb NOT NULL,
	"found_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"problem" text DEFAULT '' NOT NULL,
	"decision" text,
	CONSTRAINT "orphans_vm_key" UNIQUE("host_id","vm_id"),
	CONSTRAINT "orphans_decision" CHECK ("orphans"."decision" in ('give_back', 'delete'))
);
--> statement-breakpoint
CREATE TABLE "installation" (
	"id" integer PRIMARY KEY DEFAULT 1 NOT NULL,
	"era" bigint DEFAULT 0 NOT NULL,
	"history" text NOT NULL,
	CONSTRAINT "installation_one" CHECK ("installation"."id" = 1)
);
--> statement-breakpoint
ALTER TABLE "events" DROP CONSTRAINT "events_type";--> statement-breakpoint
ALTER TABLE "device_claims" ALTER COLUMN "vm_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "device_claims" ADD COLUMN "orphan_id" uuid;--> statement-breakpoint
ALTER TABLE "hosts" ADD COLUMN "impairment" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "hosts" ADD COLUMN "failed_builds" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "hosts" ADD COLUMN "build_failed_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "hosts" ADD COLUMN "trouble" text GENERATED ALWAYS AS (case when refusal <> '' then 'its agent refuses its desired state: ' || refusal
          when impairment <> '' then impairment
          when failed_builds >= 2 then 'it could not build the last ' || failed_builds || ' VMs'
          else '' end) STORED NOT NULL;--> statement-breakpoint
ALTER TABLE "disks" ADD COLUMN "home_id" uuid;--> statement-breakpoint
ALTER TABLE "vms" ADD COLUMN "relocating" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "vms" ADD COLUMN "avoided_hosts" uuid[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "orphan_interfaces" ADD CONSTRAINT "orphan_interfaces_orphan_id_orphans_id_fk" FOREIGN KEY ("orphan_id") REFERENCES "public"."orphans"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "orphans" ADD CONSTRAINT "orphans_host_id_hosts_id_fk" FOREIGN KEY ("host_id") REFERENCES "public"."hosts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "orphan_interfaces_network" ON "orphan_interfaces" USING btree ("network_id");--> statement-breakpoint
CREATE INDEX "orphan_interfaces_public" ON "orphan_interfaces" USING btree ("public_address");--> statement-breakpoint
CREATE INDEX "orphans_vm" ON "orphans" USING btree ("vm_id");--> statement-breakpoint
ALTER TABLE "device_claims" ADD CONSTRAINT "device_claims_orphan_id_orphans_id_fk" FOREIGN KEY ("orphan_id") REFERENCES "public"."orphans"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "device_claims_orphan" ON "device_claims" USING btree ("orphan_id");--> statement-breakpoint
ALTER TABLE "device_claims" ADD CONSTRAINT "device_claims_one_owner" CHECK (num_nonnulls("device_claims"."vm_id", "device_claims"."orphan_id") = 1);--> statement-breakpoint
ALTER TABLE "events" ADD CONSTRAINT "events_type" CHECK ("events"."type" in ('vm_crashed', 'vm_unreachable', 'vm_reachable', 'vm_host_draining', 'vm_host_fenced', 'vm_device_unhealthy', 'vm_lost', 'vm_orphaned', 'vm_restored'));