CREATE TABLE "applied_sql" (
	"id" integer PRIMARY KEY DEFAULT 1 NOT NULL,
	"digest" text NOT NULL,
	"functions" text[] NOT NULL,
	"triggers" text[] NOT NULL,
	CONSTRAINT "applied_sql_one" CHECK ("applied_sql"."id" = 1)
);
--> statement-breakpoint
CREATE TABLE "image_locations" (
	"image_id" uuid NOT NULL,
	"location" text NOT NULL,
	CONSTRAINT "image_locations_image_id_location_pk" PRIMARY KEY("image_id","location")
);
--> statement-breakpoint
CREATE TABLE "images" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"tags" text[] DEFAULT '{}' NOT NULL,
	"source_url" text DEFAULT '' NOT NULL,
	"sha256" text DEFAULT '' NOT NULL,
	"retired" boolean DEFAULT false NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "images_name_key" UNIQUE("name")
);
--> statement-breakpoint
CREATE TABLE "locations" (
	"name" text PRIMARY KEY NOT NULL,
	"region" text NOT NULL,
	"zone" text NOT NULL,
	"description" text DEFAULT '' NOT NULL
);
--> statement-breakpoint
CREATE TABLE "prices" (
	"resource_type" text PRIMARY KEY NOT NULL,
	"usd_per_hour" numeric(18, 8) NOT NULL,
	CONSTRAINT "prices_not_negative" CHECK ("prices"."usd_per_hour" >= 0)
);
--> statement-breakpoint
CREATE TABLE "vm_type_locations" (
	"vm_type" text NOT NULL,
	"location" text NOT NULL,
	CONSTRAINT "vm_type_locations_vm_type_location_pk" PRIMARY KEY("vm_type","location")
);
--> statement-breakpoint
CREATE TABLE "vm_types" (
	"name" text PRIMARY KEY NOT NULL,
	"position" integer GENERATED ALWAYS AS IDENTITY (sequence name "vm_types_position_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"description" text NOT NULL,
	"cpu_cores" integer NOT NULL,
	"cpu_type" text NOT NULL,
	"memory_gb" integer NOT NULL,
	"memory_type" text NOT NULL,
	"disk_gb" integer NOT NULL,
	"disk_type" text NOT NULL,
	"disk_count" integer NOT NULL,
	"gpu_count" integer NOT NULL,
	"gpu_type" text NOT NULL,
	"network_gbps" integer NOT NULL,
	"may_split" boolean DEFAULT false NOT NULL,
	"retired" boolean DEFAULT false NOT NULL,
	CONSTRAINT "vm_types_sizes" CHECK ("vm_types"."cpu_cores" > 0 and "vm_types"."memory_gb" > 0 and "vm_types"."gpu_count" >= 0 and "vm_types"."disk_gb" >= 0)
);
--> statement-breakpoint
CREATE TABLE "availabilities" (
	"location" text NOT NULL,
	"vm_type" text NOT NULL,
	"available" boolean NOT NULL,
	CONSTRAINT "availabilities_location_vm_type_pk" PRIMARY KEY("location","vm_type")
);
--> statement-breakpoint
CREATE TABLE "device_receipts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"number" bigint GENERATED ALWAYS AS IDENTITY (sequence name "device_receipts_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
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
	"changed_xid" "xid8" DEFAULT pg_current_xact_id() NOT NULL,
	"own_number" bigint DEFAULT 1 NOT NULL,
	"peers_xid" "xid8" DEFAULT '0' NOT NULL
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
	"last_seen_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"address" text DEFAULT '' NOT NULL
);
--> statement-breakpoint
CREATE TABLE "serial_logs" (
	"vm_id" uuid PRIMARY KEY NOT NULL,
	"tail" text NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "address_claims" (
	"network_interface_id" uuid PRIMARY KEY NOT NULL,
	"subnet_id" uuid NOT NULL,
	"address" "inet" NOT NULL,
	CONSTRAINT "address_claims_address_key" UNIQUE("subnet_id","address")
);
--> statement-breakpoint
CREATE TABLE "device_claims" (
	"device_id" uuid PRIMARY KEY NOT NULL,
	"vm_id" uuid NOT NULL
);
--> statement-breakpoint
CREATE TABLE "devices" (
	"id" uuid PRIMARY KEY NOT NULL,
	"host_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"pci_address" text NOT NULL,
	"numa_node" integer NOT NULL,
	"model" text DEFAULT '' NOT NULL,
	"serial" text DEFAULT '' NOT NULL,
	"size_gb" integer DEFAULT 0 NOT NULL,
	"pcie_switch" text DEFAULT '' NOT NULL,
	"iommu_group" integer,
	"nvlink_peer" text DEFAULT '' NOT NULL,
	"uses" text[] DEFAULT '{}' NOT NULL,
	"state" text DEFAULT 'ready' NOT NULL,
	"state_reason" text DEFAULT '' NOT NULL,
	"problems" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"blocked" boolean GENERATED ALWAYS AS (problems @> '[{"severity": "block"}]') STORED NOT NULL,
	"quarantine_reason" text DEFAULT '' NOT NULL,
	CONSTRAINT "devices_address_key" UNIQUE("host_id","pci_address"),
	CONSTRAINT "devices_kind" CHECK ("devices"."kind" in ('gpu', 'drive')),
	CONSTRAINT "devices_state" CHECK ("devices"."state" in ('ready', 'quarantined', 'missing', 'used_by_host'))
);
--> statement-breakpoint
CREATE TABLE "hosts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"location" text NOT NULL,
	"name" text NOT NULL,
	"state" text DEFAULT 'ready' NOT NULL,
	"last_seen_at" timestamp (3) with time zone,
	"scheduler_id" uuid,
	"stream_epoch" bigint DEFAULT 0 NOT NULL,
	"accepted_number" bigint DEFAULT 0 NOT NULL,
	"refusal" text DEFAULT '' NOT NULL,
	"unknown_vms" text[] DEFAULT '{}' NOT NULL,
	"inventory" jsonb,
	"judged_by" text DEFAULT '' NOT NULL,
	"facts" jsonb,
	"accepted_facts" jsonb,
	"drift" text[] DEFAULT '{}' NOT NULL,
	"numa_nodes" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"shared_storage" boolean DEFAULT false NOT NULL,
	"underlay_address" "inet",
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"admin_state" text DEFAULT 'active' NOT NULL,
	"fenced_at" timestamp (3) with time zone,
	CONSTRAINT "hosts_name_key" UNIQUE("name"),
	CONSTRAINT "hosts_state" CHECK ("hosts"."state" in ('ready', 'unreachable', 'fenced')),
	CONSTRAINT "hosts_admin_state" CHECK ("hosts"."admin_state" in ('active', 'cordoned', 'draining'))
);
--> statement-breakpoint
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
CREATE TABLE "placements" (
	"vm_id" uuid PRIMARY KEY NOT NULL,
	"host_id" uuid NOT NULL,
	"epoch" bigint NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "public_addresses" (
	"id" uuid PRIMARY KEY NOT NULL,
	"location" text NOT NULL,
	"address" "inet" NOT NULL,
	"network_interface_id" uuid,
	CONSTRAINT "public_addresses_address_key" UNIQUE("address"),
	CONSTRAINT "public_addresses_interface_key" UNIQUE("network_interface_id"),
	CONSTRAINT "public_addresses_single" CHECK (masklen("public_addresses"."address") = 32)
);
--> statement-breakpoint
CREATE TABLE "firewall_rules" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"network_id" uuid NOT NULL,
	"name" text NOT NULL,
	"direction" text NOT NULL,
	"action" text NOT NULL,
	"protocols" text[] NOT NULL,
	"sources" jsonb NOT NULL,
	"source_ports" text[] NOT NULL,
	"destinations" jsonb NOT NULL,
	"destination_ports" text[] NOT NULL,
	"desired_state" text DEFAULT 'present' NOT NULL,
	"generation" bigint DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"applied_generation" bigint DEFAULT 0 NOT NULL,
	"state" text GENERATED ALWAYS AS (case
          when desired_state = 'deleted' then 'deleting'
          when applied_generation < generation then 'pending'
          else 'active' end) STORED NOT NULL,
	CONSTRAINT "firewall_rules_name_key" UNIQUE("project_id","name"),
	CONSTRAINT "firewall_rules_direction" CHECK ("firewall_rules"."direction" in ('ingress', 'egress')),
	CONSTRAINT "firewall_rules_action" CHECK ("firewall_rules"."action" in ('allow', 'deny')),
	CONSTRAINT "firewall_rules_desired_state" CHECK ("firewall_rules"."desired_state" in ('present', 'deleted'))
);
--> statement-breakpoint
CREATE TABLE "networks" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"name" text NOT NULL,
	"cidr" "cidr" NOT NULL,
	"vni" integer GENERATED ALWAYS AS IDENTITY (sequence name "networks_vni_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 16777215 START WITH 1 CACHE 1),
	"is_default" boolean DEFAULT false NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "networks_name_key" UNIQUE("project_id","name"),
	CONSTRAINT "networks_vni_key" UNIQUE("vni")
);
--> statement-breakpoint
CREATE TABLE "subnets" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"network_id" uuid NOT NULL,
	"location" text NOT NULL,
	"name" text NOT NULL,
	"cidr" "cidr" NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "subnets_name_key" UNIQUE("project_id","name")
);
--> statement-breakpoint
CREATE TABLE "audit_logs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"organization_id" uuid,
	"project_id" uuid,
	"actor_type" text NOT NULL,
	"actor_id" uuid,
	"actor" text NOT NULL,
	"action" text NOT NULL,
	"resource_type" text NOT NULL,
	"resource_id" text NOT NULL,
	"source_ip" text NOT NULL,
	"request_id" uuid NOT NULL,
	"status" integer NOT NULL,
	CONSTRAINT "audit_logs_actor_type" CHECK ("audit_logs"."actor_type" in ('user', 'access_key', 'anonymous'))
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
	CONSTRAINT "events_type" CHECK ("events"."type" in ('vm_crashed', 'vm_unreachable', 'vm_reachable', 'vm_host_draining', 'vm_host_fenced', 'vm_device_unhealthy'))
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"actor_id" uuid NOT NULL,
	"key" text NOT NULL,
	"request_hash" text NOT NULL,
	"reply" text NOT NULL,
	"sealed" boolean NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "idempotency_keys_actor_id_key_pk" PRIMARY KEY("actor_id","key")
);
--> statement-breakpoint
CREATE TABLE "operations" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"resource_type" text NOT NULL,
	"resource_id" uuid NOT NULL,
	"name" text NOT NULL,
	"state" text NOT NULL,
	"request" json NOT NULL,
	"result" json,
	"started_at" timestamp (3) with time zone NOT NULL,
	"recorded_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"completed_at" timestamp (3) with time zone,
	"deadline_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "operations_resource_type" CHECK ("operations"."resource_type" in ('vm', 'disk', 'vpc-firewall-rule')),
	CONSTRAINT "operations_name" CHECK ("operations"."name" in ('CREATE', 'UPDATE', 'DELETE', 'START', 'STOP', 'RESET', 'ATTACH_DISKS', 'DETACH_DISKS')),
	CONSTRAINT "operations_state" CHECK ("operations"."state" in ('IN_PROGRESS', 'SUCCEEDED', 'FAILED')),
	CONSTRAINT "operations_completed" CHECK (("operations"."state" = 'IN_PROGRESS') = ("operations"."completed_at" is null))
);
--> statement-breakpoint
CREATE TABLE "quotas" (
	"project_id" uuid NOT NULL,
	"type" text NOT NULL,
	"max" bigint NOT NULL,
	"used" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "quotas_project_id_type_pk" PRIMARY KEY("project_id","type"),
	CONSTRAINT "quotas_type" CHECK ("quotas"."type" in ('vms', 'gpus', 'disks', 'disk_gib', 'firewall_rules', 'networks', 'subnets', 'access_keys'))
);
--> statement-breakpoint
CREATE TABLE "access_keys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"name" text NOT NULL,
	"role" text NOT NULL,
	"hash" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone,
	CONSTRAINT "access_keys_name_key" UNIQUE("project_id","name"),
	CONSTRAINT "access_keys_hash_key" UNIQUE("hash"),
	CONSTRAINT "access_keys_role" CHECK ("access_keys"."role" in ('member', 'read-only'))
);
--> statement-breakpoint
CREATE TABLE "members" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"organization_id" uuid NOT NULL,
	"project_id" uuid,
	"role" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "members_once" UNIQUE NULLS NOT DISTINCT("user_id","organization_id","project_id"),
	CONSTRAINT "members_role" CHECK ("members"."role" in ('owner', 'member', 'read-only')),
	CONSTRAINT "members_scope" CHECK (("members"."role" = 'owner') = ("members"."project_id" is null))
);
--> statement-breakpoint
CREATE TABLE "organizations" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"payment_customer_id" text DEFAULT '' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "payment_methods" (
	"organization_id" uuid PRIMARY KEY NOT NULL,
	"provider" text NOT NULL,
	"details" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "projects" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"name" text NOT NULL,
	"version" text DEFAULT 'v0.1' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "projects_name_key" UNIQUE("organization_id","name")
);
--> statement-breakpoint
CREATE TABLE "refresh_tokens" (
	"hash" text PRIMARY KEY NOT NULL,
	"family_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"used_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "signing_keys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"public_key" jsonb NOT NULL,
	"sealed_private_key" text NOT NULL,
	"number" bigint GENERATED ALWAYS AS IDENTITY (sequence name "signing_keys_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" uuid PRIMARY KEY NOT NULL,
	"email" text NOT NULL,
	"password_hash" text NOT NULL,
	"operator" boolean DEFAULT false NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "users_email_key" UNIQUE("email"),
	CONSTRAINT "users_email_lower" CHECK ("users"."email" = lower("users"."email"))
);
--> statement-breakpoint
CREATE TABLE "closed_days" (
	"date" date PRIMARY KEY NOT NULL,
	"closed_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "meter_intervals" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"project_id" uuid NOT NULL,
	"resource_id" uuid NOT NULL,
	"resource_type" text NOT NULL,
	"billable_metric" text NOT NULL,
	"units" numeric(12, 0) NOT NULL,
	"region" text NOT NULL,
	"started_at" timestamp (3) with time zone NOT NULL,
	"ended_at" timestamp (3) with time zone,
	CONSTRAINT "meter_intervals_order" CHECK ("meter_intervals"."ended_at" >= "meter_intervals"."started_at")
);
--> statement-breakpoint
CREATE TABLE "usage_days" (
	"date" date NOT NULL,
	"organization_id" uuid NOT NULL,
	"project_id" uuid NOT NULL,
	"resource_type" text NOT NULL,
	"billable_metric" text NOT NULL,
	"region" text NOT NULL,
	"quantity" numeric(24, 6) NOT NULL,
	"cost_usd" numeric(24, 8) NOT NULL,
	"priced" boolean NOT NULL,
	CONSTRAINT "usage_days_organization_id_date_project_id_resource_type_billable_metric_region_pk" PRIMARY KEY("organization_id","date","project_id","resource_type","billable_metric","region")
);
--> statement-breakpoint
CREATE TABLE "console_tickets" (
	"hash" text PRIMARY KEY NOT NULL,
	"vm_id" uuid NOT NULL,
	"actor_type" text NOT NULL,
	"actor_id" uuid NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "console_tickets_actor_type" CHECK ("console_tickets"."actor_type" in ('user', 'access_key'))
);
--> statement-breakpoint
CREATE TABLE "disk_attachments" (
	"disk_id" uuid NOT NULL,
	"vm_id" uuid NOT NULL,
	"attachment_type" text NOT NULL,
	"mode" text NOT NULL,
	"exclusive" boolean NOT NULL,
	"desired_state" text DEFAULT 'attached' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"attached" boolean DEFAULT false NOT NULL,
	CONSTRAINT "disk_attachments_vm_id_disk_id_pk" PRIMARY KEY("vm_id","disk_id"),
	CONSTRAINT "disk_attachments_type" CHECK ("disk_attachments"."attachment_type" in ('os', 'data')),
	CONSTRAINT "disk_attachments_mode" CHECK ("disk_attachments"."mode" in ('read-write', 'read-only')),
	CONSTRAINT "disk_attachments_desired_state" CHECK ("disk_attachments"."desired_state" in ('attached', 'detached'))
);
--> statement-breakpoint
CREATE TABLE "disks" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"name" text NOT NULL,
	"type" text NOT NULL,
	"size" text NOT NULL,
	"size_gib" integer NOT NULL,
	"location" text NOT NULL,
	"block_size" integer NOT NULL,
	"serial_number" text NOT NULL,
	"desired_state" text DEFAULT 'present' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"observed_size_gib" integer,
	"host_id" uuid,
	"state" text GENERATED ALWAYS AS (case
          when desired_state = 'deleted' then 'deleting'
          when observed_size_gib is null then 'creating'
          when observed_size_gib < size_gib then 'resizing'
          else 'ready' end) STORED NOT NULL,
	CONSTRAINT "disks_serial_number_key" UNIQUE("serial_number"),
	CONSTRAINT "disks_kind" CHECK ("disks"."kind" in ('os', 'data')),
	CONSTRAINT "disks_type" CHECK ("disks"."type" in ('persistent-ssd', 'shared-volume')),
	CONSTRAINT "disks_desired_state" CHECK ("disks"."desired_state" in ('present', 'deleted')),
	CONSTRAINT "disks_size" CHECK ("disks"."size_gib" between 1 and 10240),
	CONSTRAINT "disks_block_size" CHECK ("disks"."block_size" in (0, 512, 4096))
);
--> statement-breakpoint
CREATE TABLE "network_interfaces" (
	"id" uuid PRIMARY KEY NOT NULL,
	"vm_id" uuid NOT NULL,
	"name" text NOT NULL,
	"network_id" uuid NOT NULL,
	"subnet_id" uuid NOT NULL,
	"mac_address" text NOT NULL,
	CONSTRAINT "network_interfaces_mac_key" UNIQUE("network_id","mac_address"),
	CONSTRAINT "network_interfaces_subnet_key" UNIQUE("subnet_id","id")
);
--> statement-breakpoint
CREATE TABLE "vms" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"name" text NOT NULL,
	"type" text NOT NULL,
	"location" text NOT NULL,
	"image_id" uuid NOT NULL,
	"ssh_public_key" text NOT NULL,
	"startup_script" text DEFAULT '' NOT NULL,
	"shutdown_script" text DEFAULT '' NOT NULL,
	"desired_state" text DEFAULT 'running' NOT NULL,
	"power_action" text DEFAULT 'CREATE' NOT NULL,
	"generation" bigint DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"observed_state" text DEFAULT 'none' NOT NULL,
	"observed_generation" bigint DEFAULT 0 NOT NULL,
	"reachable" boolean DEFAULT true NOT NULL,
	"placed" boolean DEFAULT false NOT NULL,
	"abandoned" boolean DEFAULT false NOT NULL,
	"revision" bigint DEFAULT 1 NOT NULL,
	"state" text GENERATED ALWAYS AS (case
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
          end) STORED NOT NULL,
	CONSTRAINT "vms_name_key" UNIQUE("project_id","name"),
	CONSTRAINT "vms_desired_state" CHECK ("vms"."desired_state" in ('running', 'stopped', 'deleted')),
	CONSTRAINT "vms_observed_state" CHECK ("vms"."observed_state" in ('none', 'running', 'stopped', 'crashed', 'failed')),
	CONSTRAINT "vms_power_action" CHECK ("vms"."power_action" in ('CREATE', 'START', 'STOP', 'RESET')),
	CONSTRAINT "vms_generations" CHECK ("vms"."observed_generation" <= "vms"."generation")
);
--> statement-breakpoint
ALTER TABLE "image_locations" ADD CONSTRAINT "image_locations_image_id_images_id_fk" FOREIGN KEY ("image_id") REFERENCES "public"."images"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "image_locations" ADD CONSTRAINT "image_locations_location_locations_name_fk" FOREIGN KEY ("location") REFERENCES "public"."locations"("name") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "vm_type_locations" ADD CONSTRAINT "vm_type_locations_vm_type_vm_types_name_fk" FOREIGN KEY ("vm_type") REFERENCES "public"."vm_types"("name") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "vm_type_locations" ADD CONSTRAINT "vm_type_locations_location_locations_name_fk" FOREIGN KEY ("location") REFERENCES "public"."locations"("name") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "availabilities" ADD CONSTRAINT "availabilities_location_locations_name_fk" FOREIGN KEY ("location") REFERENCES "public"."locations"("name") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "availabilities" ADD CONSTRAINT "availabilities_vm_type_vm_types_name_fk" FOREIGN KEY ("vm_type") REFERENCES "public"."vm_types"("name") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "firewall_rule_hosts" ADD CONSTRAINT "firewall_rule_hosts_rule_id_firewall_rules_id_fk" FOREIGN KEY ("rule_id") REFERENCES "public"."firewall_rules"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "firewall_rule_hosts" ADD CONSTRAINT "firewall_rule_hosts_host_id_hosts_id_fk" FOREIGN KEY ("host_id") REFERENCES "public"."hosts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "host_certificates" ADD CONSTRAINT "host_certificates_host_id_hosts_id_fk" FOREIGN KEY ("host_id") REFERENCES "public"."hosts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "host_revisions" ADD CONSTRAINT "host_revisions_host_id_hosts_id_fk" FOREIGN KEY ("host_id") REFERENCES "public"."hosts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "leases" ADD CONSTRAINT "leases_location_locations_name_fk" FOREIGN KEY ("location") REFERENCES "public"."locations"("name") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "serial_logs" ADD CONSTRAINT "serial_logs_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "address_claims" ADD CONSTRAINT "address_claims_interface_fk" FOREIGN KEY ("network_interface_id","subnet_id") REFERENCES "public"."network_interfaces"("id","subnet_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "device_claims" ADD CONSTRAINT "device_claims_device_id_devices_id_fk" FOREIGN KEY ("device_id") REFERENCES "public"."devices"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "device_claims" ADD CONSTRAINT "device_claims_vm_id_placements_vm_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."placements"("vm_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "devices" ADD CONSTRAINT "devices_host_id_hosts_id_fk" FOREIGN KEY ("host_id") REFERENCES "public"."hosts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "hosts" ADD CONSTRAINT "hosts_location_locations_name_fk" FOREIGN KEY ("location") REFERENCES "public"."locations"("name") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "join_tokens" ADD CONSTRAINT "join_tokens_location_locations_name_fk" FOREIGN KEY ("location") REFERENCES "public"."locations"("name") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "join_tokens" ADD CONSTRAINT "join_tokens_host_id_hosts_id_fk" FOREIGN KEY ("host_id") REFERENCES "public"."hosts"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "placements" ADD CONSTRAINT "placements_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "placements" ADD CONSTRAINT "placements_host_id_hosts_id_fk" FOREIGN KEY ("host_id") REFERENCES "public"."hosts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "public_addresses" ADD CONSTRAINT "public_addresses_location_locations_name_fk" FOREIGN KEY ("location") REFERENCES "public"."locations"("name") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "public_addresses" ADD CONSTRAINT "public_addresses_network_interface_id_network_interfaces_id_fk" FOREIGN KEY ("network_interface_id") REFERENCES "public"."network_interfaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "firewall_rules" ADD CONSTRAINT "firewall_rules_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "firewall_rules" ADD CONSTRAINT "firewall_rules_network_id_networks_id_fk" FOREIGN KEY ("network_id") REFERENCES "public"."networks"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "networks" ADD CONSTRAINT "networks_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "subnets" ADD CONSTRAINT "subnets_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "subnets" ADD CONSTRAINT "subnets_network_id_networks_id_fk" FOREIGN KEY ("network_id") REFERENCES "public"."networks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "subnets" ADD CONSTRAINT "subnets_location_locations_name_fk" FOREIGN KEY ("location") REFERENCES "public"."locations"("name") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "events" ADD CONSTRAINT "events_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "operations" ADD CONSTRAINT "operations_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "quotas" ADD CONSTRAINT "quotas_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "access_keys" ADD CONSTRAINT "access_keys_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "members" ADD CONSTRAINT "members_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "members" ADD CONSTRAINT "members_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "members" ADD CONSTRAINT "members_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payment_methods" ADD CONSTRAINT "payment_methods_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "projects" ADD CONSTRAINT "projects_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "refresh_tokens" ADD CONSTRAINT "refresh_tokens_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "usage_days" ADD CONSTRAINT "usage_days_date_closed_days_date_fk" FOREIGN KEY ("date") REFERENCES "public"."closed_days"("date") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "console_tickets" ADD CONSTRAINT "console_tickets_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "disk_attachments" ADD CONSTRAINT "disk_attachments_disk_id_disks_id_fk" FOREIGN KEY ("disk_id") REFERENCES "public"."disks"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "disk_attachments" ADD CONSTRAINT "disk_attachments_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "disks" ADD CONSTRAINT "disks_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "disks" ADD CONSTRAINT "disks_location_locations_name_fk" FOREIGN KEY ("location") REFERENCES "public"."locations"("name") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "network_interfaces" ADD CONSTRAINT "network_interfaces_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "network_interfaces" ADD CONSTRAINT "network_interfaces_network_id_networks_id_fk" FOREIGN KEY ("network_id") REFERENCES "public"."networks"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "network_interfaces" ADD CONSTRAINT "network_interfaces_subnet_id_subnets_id_fk" FOREIGN KEY ("subnet_id") REFERENCES "public"."subnets"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "vms" ADD CONSTRAINT "vms_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "vms" ADD CONSTRAINT "vms_type_vm_types_name_fk" FOREIGN KEY ("type") REFERENCES "public"."vm_types"("name") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "vms" ADD CONSTRAINT "vms_location_locations_name_fk" FOREIGN KEY ("location") REFERENCES "public"."locations"("name") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "vms" ADD CONSTRAINT "vms_image_id_images_id_fk" FOREIGN KEY ("image_id") REFERENCES "public"."images"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "device_receipts_device" ON "device_receipts" USING btree ("device_id","id");--> statement-breakpoint
CREATE INDEX "device_receipts_project" ON "device_receipts" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "device_receipts_serial" ON "device_receipts" USING btree ("serial","number") WHERE serial <> '';--> statement-breakpoint
CREATE INDEX "firewall_rule_hosts_host" ON "firewall_rule_hosts" USING btree ("host_id");--> statement-breakpoint
CREATE INDEX "host_certificates_host" ON "host_certificates" USING btree ("host_id");--> statement-breakpoint
CREATE INDEX "host_certificates_revoked" ON "host_certificates" USING btree ("serial") WHERE revoked_at is not null;--> statement-breakpoint
CREATE INDEX "host_revisions_changed" ON "host_revisions" USING btree ("changed_xid");--> statement-breakpoint
CREATE INDEX "host_revisions_peers" ON "host_revisions" USING btree ("peers_xid");--> statement-breakpoint
CREATE INDEX "device_claims_vm" ON "device_claims" USING btree ("vm_id");--> statement-breakpoint
CREATE INDEX "devices_serial" ON "devices" USING btree ("serial") WHERE serial <> '';--> statement-breakpoint
CREATE INDEX "hosts_location" ON "hosts" USING btree ("location");--> statement-breakpoint
CREATE INDEX "hosts_detached" ON "hosts" USING btree ("id") WHERE scheduler_id is null;--> statement-breakpoint
CREATE INDEX "hosts_fenced" ON "hosts" USING btree ("id") WHERE fenced_at is not null and state <> 'fenced';--> statement-breakpoint
CREATE INDEX "join_tokens_host" ON "join_tokens" USING btree ("host_id");--> statement-breakpoint
CREATE INDEX "placements_host" ON "placements" USING btree ("host_id");--> statement-breakpoint
CREATE INDEX "firewall_rules_network" ON "firewall_rules" USING btree ("network_id");--> statement-breakpoint
CREATE INDEX "firewall_rules_unsettled" ON "firewall_rules" USING btree ("id") WHERE desired_state = 'deleted' or applied_generation < generation;--> statement-breakpoint
CREATE INDEX "subnets_network" ON "subnets" USING btree ("network_id");--> statement-breakpoint
CREATE INDEX "audit_logs_organization" ON "audit_logs" USING btree ("organization_id","id");--> statement-breakpoint
CREATE INDEX "events_project" ON "events" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "idempotency_keys_age" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "operations_unfinished_key" ON "operations" USING btree ("resource_id") WHERE state = 'IN_PROGRESS';--> statement-breakpoint
CREATE INDEX "operations_project" ON "operations" USING btree ("project_id","resource_type","id");--> statement-breakpoint
CREATE INDEX "operations_resource" ON "operations" USING btree ("resource_id");--> statement-breakpoint
CREATE INDEX "operations_deadline" ON "operations" USING btree ("deadline_at") WHERE state = 'IN_PROGRESS';--> statement-breakpoint
CREATE INDEX "members_organization" ON "members" USING btree ("organization_id");--> statement-breakpoint
CREATE INDEX "refresh_tokens_family" ON "refresh_tokens" USING btree ("family_id");--> statement-breakpoint
CREATE INDEX "refresh_tokens_expiry" ON "refresh_tokens" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "meter_intervals_open_key" ON "meter_intervals" USING btree ("resource_id") WHERE ended_at is null;--> statement-breakpoint
CREATE INDEX "meter_intervals_time" ON "meter_intervals" USING btree ("started_at","ended_at");--> statement-breakpoint
CREATE INDEX "console_tickets_age" ON "console_tickets" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "console_tickets_vm" ON "console_tickets" USING btree ("vm_id");--> statement-breakpoint
CREATE UNIQUE INDEX "disk_attachments_exclusive_key" ON "disk_attachments" USING btree ("disk_id") WHERE exclusive;--> statement-breakpoint
CREATE INDEX "disk_attachments_disk" ON "disk_attachments" USING btree ("disk_id");--> statement-breakpoint
CREATE UNIQUE INDEX "disks_name_key" ON "disks" USING btree ("project_id","name") WHERE kind = 'data';--> statement-breakpoint
CREATE INDEX "disks_project" ON "disks" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "disks_host" ON "disks" USING btree ("host_id");--> statement-breakpoint
CREATE INDEX "disks_unsettled" ON "disks" USING btree ("id") WHERE kind = 'data' and (desired_state = 'deleted' or observed_size_gib is null or observed_size_gib < size_gib);--> statement-breakpoint
CREATE INDEX "network_interfaces_vm" ON "network_interfaces" USING btree ("vm_id");--> statement-breakpoint
CREATE INDEX "vms_project" ON "vms" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "vms_unplaced" ON "vms" USING btree ("location","id") WHERE desired_state = 'running' and not placed and not abandoned and observed_generation < generation;--> statement-breakpoint
CREATE INDEX "vms_unplaced_removable" ON "vms" USING btree ("id") WHERE not placed and (desired_state = 'deleted' or abandoned);