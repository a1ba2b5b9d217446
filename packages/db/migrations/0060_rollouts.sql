CREATE TABLE "rollout_hosts" (
	"rollout_id" uuid NOT NULL,
	"host_id" uuid NOT NULL,
	"wave" integer NOT NULL,
	"state" text DEFAULT 'pending' NOT NULL,
	"reason" text DEFAULT '' NOT NULL,
	"from_version" text DEFAULT '' NOT NULL,
	"order_id" uuid,
	"wanted_version" text DEFAULT '' NOT NULL,
	"ordered_at" timestamp (3) with time zone,
	"ended_at" timestamp (3) with time zone,
	"active" boolean DEFAULT true NOT NULL,
	CONSTRAINT "rollout_hosts_rollout_id_host_id_pk" PRIMARY KEY("rollout_id","host_id"),
	CONSTRAINT "rollout_hosts_state" CHECK ("rollout_hosts"."state" in ('pending', 'updating', 'done', 'failed', 'skipped', 'rolling_back', 'rolled_back', 'roll_back_failed'))
);
--> statement-breakpoint
CREATE TABLE "rollouts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"version" text NOT NULL,
	"labels" jsonb NOT NULL,
	"canary_count" integer NOT NULL,
	"batch_size" integer NOT NULL,
	"host_time_limit_s" integer NOT NULL,
	"max_failures" integer NOT NULL,
	"forgiven_failures" integer DEFAULT 0 NOT NULL,
	"created_by" uuid NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"wave" integer DEFAULT 0 NOT NULL,
	"state" text DEFAULT 'running' NOT NULL,
	"state_reason" text DEFAULT '' NOT NULL,
	"ended_at" timestamp (3) with time zone,
	CONSTRAINT "rollouts_state" CHECK ("rollouts"."state" in ('running', 'paused', 'cancelling', 'cancelled', 'completed', 'rolling_back', 'rolled_back'))
);
--> statement-breakpoint
ALTER TABLE "rollout_hosts" ADD CONSTRAINT "rollout_hosts_rollout_id_rollouts_id_fk" FOREIGN KEY ("rollout_id") REFERENCES "public"."rollouts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rollout_hosts" ADD CONSTRAINT "rollout_hosts_host_id_hosts_id_fk" FOREIGN KEY ("host_id") REFERENCES "public"."hosts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "rollout_hosts_active_key" ON "rollout_hosts" USING btree ("host_id") WHERE active;--> statement-breakpoint
CREATE INDEX "rollout_hosts_host" ON "rollout_hosts" USING btree ("host_id");--> statement-breakpoint
CREATE INDEX "rollouts_unfinished" ON "rollouts" USING btree ("id") WHERE ended_at is null;
