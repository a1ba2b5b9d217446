ALTER TABLE "drives" DROP CONSTRAINT "drives_state";--> statement-breakpoint
ALTER TABLE "gpus" DROP CONSTRAINT "gpus_state";--> statement-breakpoint
ALTER TABLE "events" DROP CONSTRAINT "events_type";--> statement-breakpoint
ALTER TABLE "drives" ADD COLUMN "uses" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "drives" ADD COLUMN "state_reason" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "drives" ADD COLUMN "problems" jsonb DEFAULT '[]'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "drives" ADD COLUMN "blocked" boolean GENERATED ALWAYS AS (problems @> '[{"severity": "block"}]') STORED NOT NULL;--> statement-breakpoint
ALTER TABLE "gpus" ADD COLUMN "state_reason" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "gpus" ADD COLUMN "problems" jsonb DEFAULT '[]'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "gpus" ADD COLUMN "blocked" boolean GENERATED ALWAYS AS (problems @> '[{"severity": "block"}]') STORED NOT NULL;--> statement-breakpoint
ALTER TABLE "hosts" ADD COLUMN "judged_by" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "hosts" ADD COLUMN "facts" jsonb;--> statement-breakpoint
ALTER TABLE "hosts" ADD COLUMN "accepted_facts" jsonb;--> statement-breakpoint
ALTER TABLE "hosts" ADD COLUMN "drift" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
CREATE INDEX "device_receipts_serial" ON "device_receipts" USING btree ("serial","id") WHERE serial <> '';--> statement-breakpoint
ALTER TABLE "drives" ADD CONSTRAINT "drives_state" CHECK ("drives"."state" in ('ready', 'quarantined', 'missing', 'used_by_host'));--> statement-breakpoint
ALTER TABLE "gpus" ADD CONSTRAINT "gpus_state" CHECK ("gpus"."state" in ('ready', 'quarantined', 'missing', 'used_by_host'));--> statement-breakpoint
ALTER TABLE "events" ADD CONSTRAINT "events_type" CHECK ("events"."type" in ('vm_crashed', 'vm_unreachable', 'vm_reachable', 'vm_host_draining', 'vm_host_fenced', 'vm_device_unhealthy'));
--> statement-breakpoint
UPDATE gpus SET state_reason = coalesce((SELECT failure_message FROM device_receipts r
  WHERE r.device_id = gpus.id AND r.failure_code <> '' ORDER BY r.id DESC LIMIT 1), '') WHERE state = 'quarantined';
--> statement-breakpoint
UPDATE drives SET state_reason = coalesce((SELECT failure_message FROM device_receipts r
  WHERE r.device_id = drives.id AND r.failure_code <> '' ORDER BY r.id DESC LIMIT 1), '') WHERE state = 'quarantined';
--> statement-breakpoint
-- Nothing is placed on a host that drifted. Reports repeat what they said: only a change wakes placing.
DROP TRIGGER hosts_touched ON hosts;
--> statement-breakpoint
CREATE TRIGGER hosts_touched AFTER UPDATE OF state, admin_state, numa_nodes, shared_storage, drift ON hosts FOR EACH ROW
  WHEN ((NEW.state, NEW.admin_state, NEW.numa_nodes, NEW.shared_storage, NEW.drift)
    IS DISTINCT FROM (OLD.state, OLD.admin_state, OLD.numa_nodes, OLD.shared_storage, OLD.drift))
  EXECUTE FUNCTION touch_host();
