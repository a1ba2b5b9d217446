CREATE TABLE "webhook_deliveries" (
	"id" uuid PRIMARY KEY NOT NULL,
	"number" bigint GENERATED ALWAYS AS IDENTITY (sequence name "webhook_deliveries_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"webhook_id" uuid NOT NULL,
	"event_id" text NOT NULL,
	"event_type" text NOT NULL,
	"resource_id" text NOT NULL,
	"body" text NOT NULL,
	"xid" "xid8",
	"event_number" bigint,
	"state" text DEFAULT 'pending' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamp (3) with time zone,
	"give_up_at" timestamp (3) with time zone NOT NULL,
	"last_attempt_at" timestamp (3) with time zone,
	"status_code" integer DEFAULT 0 NOT NULL,
	"latency_ms" integer DEFAULT 0 NOT NULL,
	"error" text DEFAULT '' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "webhook_deliveries_state" CHECK ("webhook_deliveries"."state" in ('pending', 'delivered', 'failed')),
	CONSTRAINT "webhook_deliveries_next" CHECK ("webhook_deliveries"."state" = 'pending' or "webhook_deliveries"."next_attempt_at" is null)
);
--> statement-breakpoint
CREATE TABLE "webhook_queues" (
	"webhook_id" uuid PRIMARY KEY NOT NULL,
	"era" bigint NOT NULL,
	"xid" "xid8" NOT NULL,
	"number" bigint NOT NULL,
	"pending" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp (3) with time zone,
	"leased_by" uuid,
	"leased_until" timestamp (3) with time zone,
	"failing_since" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "webhooks" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid,
	"name" text NOT NULL,
	"url" text NOT NULL,
	"event_types" text[] NOT NULL,
	"description" text NOT NULL,
	"tags" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"sealed_secret" text NOT NULL,
	"sealed_old_secret" text DEFAULT '' NOT NULL,
	"old_secret_until" timestamp (3) with time zone,
	"disabled_at" timestamp (3) with time zone,
	"disabled_reason" text DEFAULT '' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "webhooks_name_key" UNIQUE NULLS NOT DISTINCT("project_id","name"),
	CONSTRAINT "webhooks_disabled" CHECK (("webhooks"."disabled_at" is null) = ("webhooks"."disabled_reason" = ''))
);
--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_webhook_id_webhooks_id_fk" FOREIGN KEY ("webhook_id") REFERENCES "public"."webhooks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_queues" ADD CONSTRAINT "webhook_queues_webhook_id_webhooks_id_fk" FOREIGN KEY ("webhook_id") REFERENCES "public"."webhooks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "webhook_deliveries_list" ON "webhook_deliveries" USING btree ("webhook_id","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_due" ON "webhook_deliveries" USING btree ("webhook_id","next_attempt_at") WHERE next_attempt_at is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "webhook_deliveries_order" ON "webhook_deliveries" USING btree ("webhook_id","resource_id","number") WHERE state = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_queues_due" ON "webhook_queues" USING btree ("due_at") WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX "webhooks_project" ON "webhooks" USING btree ("project_id","id");