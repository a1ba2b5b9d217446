CREATE TABLE "payment_events" (
	"id" text PRIMARY KEY NOT NULL,
	"type" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "payment_outbox" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"organization_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"date" date NOT NULL,
	"resource_type" text NOT NULL,
	"billable_metric" text NOT NULL,
	"quantity" numeric(24, 6) NOT NULL,
	"cost_usd" numeric(24, 8) NOT NULL,
	"reason" text DEFAULT '' NOT NULL,
	"adjustment_id" uuid,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"claimed_until" timestamp (3) with time zone,
	"uncertain_since" timestamp (3) with time zone,
	"sent_at" timestamp (3) with time zone,
	"failure" text DEFAULT '' NOT NULL,
	CONSTRAINT "payment_outbox_adjustment_key" UNIQUE("adjustment_id"),
	CONSTRAINT "payment_outbox_kind" CHECK ("payment_outbox"."kind" in ('usage', 'adjustment'))
);
--> statement-breakpoint
CREATE TABLE "payment_problems" (
	"organization_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"invoice_id" text DEFAULT '' NOT NULL,
	"since" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"suspends_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "payment_problems_organization_id_kind_pk" PRIMARY KEY("organization_id","kind"),
	CONSTRAINT "payment_problems_kind" CHECK ("payment_problems"."kind" in ('payment_failed', 'no_payment_method'))
);
--> statement-breakpoint
CREATE TABLE "suspensions" (
	"organization_id" uuid PRIMARY KEY NOT NULL,
	"cause" text NOT NULL,
	"reason" text NOT NULL,
	"since" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"stops_vms_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "suspensions_cause" CHECK ("suspensions"."cause" in ('operator', 'payment'))
);
--> statement-breakpoint
CREATE TABLE "closed_prices" (
	"date" date NOT NULL,
	"resource_type" text NOT NULL,
	"usd_per_hour" numeric(18, 8) NOT NULL,
	CONSTRAINT "closed_prices_date_resource_type_pk" PRIMARY KEY("date","resource_type")
);
--> statement-breakpoint
CREATE TABLE "late_usage" (
	"number" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "late_usage_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"organization_id" uuid NOT NULL,
	"since" timestamp (3) with time zone NOT NULL,
	"until" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "usage_adjustments" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"date" date NOT NULL,
	"organization_id" uuid NOT NULL,
	"project_id" uuid NOT NULL,
	"resource_type" text NOT NULL,
	"billable_metric" text NOT NULL,
	"region" text NOT NULL,
	"quantity" numeric(24, 6) NOT NULL,
	"cost_usd" numeric(24, 8) NOT NULL,
	"priced" boolean NOT NULL,
	"reason" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "events" DROP CONSTRAINT "events_type";--> statement-breakpoint
ALTER TABLE "meter_intervals" ADD COLUMN "given_up_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "meter_intervals" ADD COLUMN "unproven" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "payment_problems" ADD CONSTRAINT "payment_problems_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "suspensions" ADD CONSTRAINT "suspensions_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "closed_prices" ADD CONSTRAINT "closed_prices_date_closed_days_date_fk" FOREIGN KEY ("date") REFERENCES "public"."closed_days"("date") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "usage_adjustments" ADD CONSTRAINT "usage_adjustments_date_closed_days_date_fk" FOREIGN KEY ("date") REFERENCES "public"."closed_days"("date") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "payment_outbox_day_key" ON "payment_outbox" USING btree ("organization_id","date","resource_type","billable_metric") WHERE kind = 'usage';--> statement-breakpoint
CREATE INDEX "payment_outbox_unsent" ON "payment_outbox" USING btree ("organization_id","created_at") WHERE sent_at is null;--> statement-breakpoint
CREATE INDEX "payment_problems_due" ON "payment_problems" USING btree ("suspends_at");--> statement-breakpoint
CREATE INDEX "suspensions_due" ON "suspensions" USING btree ("stops_vms_at");--> statement-breakpoint
CREATE INDEX "usage_adjustments_day" ON "usage_adjustments" USING btree ("organization_id","date");--> statement-breakpoint
CREATE UNIQUE INDEX "meter_intervals_unproven_key" ON "meter_intervals" USING btree ("resource_id") WHERE unproven;--> statement-breakpoint
CREATE INDEX "meter_intervals_organization" ON "meter_intervals" USING btree ("organization_id","ended_at");--> statement-breakpoint
ALTER TABLE "events" ADD CONSTRAINT "events_type" CHECK ("events"."type" in ('vm_crashed', 'vm_unreachable', 'vm_reachable', 'vm_host_draining', 'vm_host_fenced', 'vm_device_unhealthy', 'vm_lost', 'vm_orphaned', 'vm_restored', 'vm_organization_warned', 'vm_organization_suspended', 'vm_organization_resumed'));--> statement-breakpoint
ALTER TABLE "meter_intervals" ADD CONSTRAINT "meter_intervals_given_up" CHECK ("meter_intervals"."given_up_at" >= "meter_intervals"."ended_at");--> statement-breakpoint
-- A stop or deletion that was requested before this version ends the metering at its request.
UPDATE meter_intervals m SET ended_at = greatest(m.started_at, o.requested_at)
FROM (SELECT resource_id, max(recorded_at) AS requested_at FROM operations WHERE name IN ('STOP', 'DELETE') GROUP BY resource_id) o
WHERE o.resource_id = m.resource_id AND m.ended_at IS NULL
	AND (EXISTS (SELECT FROM vms v WHERE v.id = m.resource_id AND v.desired_state <> 'running')
		OR EXISTS (SELECT FROM disks d WHERE d.id = m.resource_id AND d.desired_state = 'deleted'));
