DROP INDEX "operations_project";--> statement-breakpoint
DROP INDEX "meter_intervals_time";--> statement-breakpoint
DROP INDEX "meter_intervals_organization";--> statement-breakpoint
ALTER TABLE "installation" ADD COLUMN "metered_since" timestamp (3) with time zone DEFAULT '-infinity' NOT NULL;--> statement-breakpoint
CREATE INDEX "host_certificates_expiry" ON "host_certificates" USING btree ("not_after");--> statement-breakpoint
CREATE INDEX "join_tokens_expiry" ON "join_tokens" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "operations_list" ON "operations" USING btree ("project_id","resource_type","state","id");--> statement-breakpoint
CREATE INDEX "payment_outbox_sent" ON "payment_outbox" USING btree ("sent_at") WHERE sent_at is not null;--> statement-breakpoint
CREATE INDEX "meter_intervals_end" ON "meter_intervals" USING btree (coalesce(ended_at, 'infinity'));--> statement-breakpoint
CREATE INDEX "meter_intervals_of" ON "meter_intervals" USING btree ("organization_id",coalesce(ended_at, 'infinity'));--> statement-breakpoint
CREATE INDEX "vms_state" ON "vms" USING btree ("project_id","state","id");