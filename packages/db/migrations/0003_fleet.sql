CREATE TABLE "availabilities" (
	"location" text NOT NULL,
	"vm_type" text NOT NULL,
	"available" boolean NOT NULL,
	CONSTRAINT "availabilities_location_vm_type_pk" PRIMARY KEY("location","vm_type")
);
--> statement-breakpoint
CREATE TABLE "device_receipts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"device_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"host_id" uuid NOT NULL,
	"pci_address" text NOT NULL,
	"serial" text NOT NULL,
	"vm_id" uuid NOT NULL,
	"project_id" uuid NOT NULL,
	"method" text NOT NULL,
	"finished_at" timestamp (3) with time zone NOT NULL,
	"failure_code" text DEFAULT '' NOT NULL,
	"failure_message" text DEFAULT '' NOT NULL,
	CONSTRAINT "device_receipts_kind" CHECK ("device_receipts"."kind" in ('gpu', 'drive'))
);
--> statement-breakpoint
CREATE TABLE "firewall_rule_hosts" (
	"rule_id" uuid NOT NULL,
	"host_id" uuid NOT NULL,
	"number" bigint NOT NULL,
	CONSTRAINT "firewall_rule_hosts_rule_id_host_id_pk" PRIMARY KEY("rule_id","host_id")
);
--> statement-breakpoint
CREATE TABLE "fleet_authorities" (
	"id" integer PRIMARY KEY DEFAULT 1 NOT NULL,
	"certificate_pem" text NOT NULL,
	"fingerprint" text NOT NULL,
	"sealed_private_key" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "fleet_authorities_one" CHECK ("fleet_authorities"."id" = 1)
);
--> statement-breakpoint
CREATE TABLE "host_certificates" (
	"serial" text PRIMARY KEY NOT NULL,
	"host_id" uuid NOT NULL,
	"not_after" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"revoked_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "host_revisions" (
	"host_id" uuid PRIMARY KEY NOT NULL,
	"number" bigint DEFAULT 1 NOT NULL,
	"changed_xid" "xid8" DEFAULT pg_current_xact_id() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "leases" (
	"location" text PRIMARY KEY NOT NULL,
	"holder" uuid NOT NULL,
	"epoch" bigint NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "schedulers" (
	"id" uuid PRIMARY KEY NOT NULL,
	"started_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_seen_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "serial_logs" (
	"vm_id" uuid PRIMARY KEY NOT NULL,
	"tail" text NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "events" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"resource_type" text NOT NULL,
	"resource_id" uuid NOT NULL,
	"type" text NOT NULL,
	"message" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "events_resource_type" CHECK ("events"."resource_type" in ('vm', 'disk', 'vpc-firewall-rule')),
	CONSTRAINT "events_type" CHECK ("events"."type" in ('vm_crashed', 'vm_unreachable', 'vm_reachable', 'vm_host_draining', 'vm_host_fenced'))
);
--> statement-breakpoint
ALTER TABLE "drives" DROP CONSTRAINT "drives_state";--> statement-breakpoint
ALTER TABLE "gpus" DROP CONSTRAINT "gpus_state";--> statement-breakpoint
ALTER TABLE "drives" ADD COLUMN "serial" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "gpus" ADD COLUMN "pcie_switch" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "gpus" ADD COLUMN "iommu_group" integer;--> statement-breakpoint
ALTER TABLE "gpus" ADD COLUMN "nvlink_peer" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "hosts" ADD COLUMN "scheduler_id" uuid;--> statement-breakpoint
ALTER TABLE "hosts" ADD COLUMN "stream_epoch" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "hosts" ADD COLUMN "accepted_number" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "hosts" ADD COLUMN "refusal" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "hosts" ADD COLUMN "unknown_vms" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "hosts" ADD COLUMN "inventory" jsonb;--> statement-breakpoint
ALTER TABLE "hosts" ADD COLUMN "numa_nodes" jsonb DEFAULT '[]'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "hosts" ADD COLUMN "shared_storage" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "hosts" ADD COLUMN "fenced_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "disks" ADD COLUMN "host_id" uuid;--> statement-breakpoint
ALTER TABLE "vms" ADD COLUMN "placed" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "vms" ADD COLUMN "abandoned" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "vms" ADD COLUMN "revision" bigint DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "vms" drop column "state";--> statement-breakpoint
ALTER TABLE "vms" ADD COLUMN "state" text GENERATED ALWAYS AS (case
          when desired_state = 'deleted' or abandoned then 'STATE_DELETING'
          when not reachable then 'STATE_UNREACHABLE'
          when observed_generation < generation then case power_action
            when 'CREATE' then 'STATE_CREATING'
            when 'START' then 'STATE_STARTING'
            when 'STOP' then 'STATE_STOPPING'
            else 'STATE_RESETTING' end
          else case observed_state
            when 'running' then 'STATE_RUNNING'
            when 'stopped' then 'STATE_SHUTOFF'
            when 'crashed' then 'STATE_CRASHED'
            when 'failed' then 'STATE_ERROR'
            else 'STATE_CREATING' end
          end) STORED NOT NULL;--> statement-breakpoint
ALTER TABLE "availabilities" ADD CONSTRAINT "availabilities_location_locations_name_fk" FOREIGN KEY ("location") REFERENCES "public"."locations"("name") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "availabilities" ADD CONSTRAINT "availabilities_vm_type_vm_types_name_fk" FOREIGN KEY ("vm_type") REFERENCES "public"."vm_types"("name") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "firewall_rule_hosts" ADD CONSTRAINT "firewall_rule_hosts_rule_id_firewall_rules_id_fk" FOREIGN KEY ("rule_id") REFERENCES "public"."firewall_rules"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "firewall_rule_hosts" ADD CONSTRAINT "firewall_rule_hosts_host_id_hosts_id_fk" FOREIGN KEY ("host_id") REFERENCES "public"."hosts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "host_certificates" ADD CONSTRAINT "host_certificates_host_id_hosts_id_fk" FOREIGN KEY ("host_id") REFERENCES "public"."hosts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "host_revisions" ADD CONSTRAINT "host_revisions_host_id_hosts_id_fk" FOREIGN KEY ("host_id") REFERENCES "public"."hosts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "leases" ADD CONSTRAINT "leases_location_locations_name_fk" FOREIGN KEY ("location") REFERENCES "public"."locations"("name") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "serial_logs" ADD CONSTRAINT "serial_logs_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "events" ADD CONSTRAINT "events_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "device_receipts_device" ON "device_receipts" USING btree ("device_id","id");--> statement-breakpoint
CREATE INDEX "device_receipts_project" ON "device_receipts" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "firewall_rule_hosts_host" ON "firewall_rule_hosts" USING btree ("host_id");--> statement-breakpoint
CREATE INDEX "host_certificates_host" ON "host_certificates" USING btree ("host_id");--> statement-breakpoint
CREATE INDEX "host_certificates_revoked" ON "host_certificates" USING btree ("serial") WHERE revoked_at is not null;--> statement-breakpoint
CREATE INDEX "host_revisions_changed" ON "host_revisions" USING btree ("changed_xid");--> statement-breakpoint
CREATE INDEX "events_project" ON "events" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "hosts_detached" ON "hosts" USING btree ("id") WHERE scheduler_id is null;--> statement-breakpoint
CREATE INDEX "hosts_fenced" ON "hosts" USING btree ("id") WHERE fenced_at is not null and state <> 'fenced';--> statement-breakpoint
CREATE INDEX "firewall_rules_unsettled" ON "firewall_rules" USING btree ("id") WHERE desired_state = 'deleted' or applied_generation < generation;--> statement-breakpoint
CREATE INDEX "operations_deadline" ON "operations" USING btree ("deadline_at") WHERE state = 'IN_PROGRESS';--> statement-breakpoint
CREATE INDEX "disks_host" ON "disks" USING btree ("host_id");--> statement-breakpoint
CREATE INDEX "disks_unsettled" ON "disks" USING btree ("id") WHERE kind = 'data' and (desired_state = 'deleted' or observed_size_gib is null or observed_size_gib < size_gib);--> statement-breakpoint
CREATE INDEX "vms_unplaced" ON "vms" USING btree ("location","id") WHERE desired_state = 'running' and not placed and not abandoned and observed_generation < generation;--> statement-breakpoint
CREATE INDEX "vms_unplaced_removable" ON "vms" USING btree ("id") WHERE not placed and (desired_state = 'deleted' or abandoned);--> statement-breakpoint
ALTER TABLE "drives" ADD CONSTRAINT "drives_state" CHECK ("drives"."state" in ('ready', 'quarantined', 'missing'));--> statement-breakpoint
ALTER TABLE "gpus" ADD CONSTRAINT "gpus_state" CHECK ("gpus"."state" in ('ready', 'quarantined', 'missing'));