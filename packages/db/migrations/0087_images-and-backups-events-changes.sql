ALTER TABLE "events" DROP CONSTRAINT "events_resource_type";--> statement-breakpoint
ALTER TABLE "events" ADD CONSTRAINT "events_resource_type" CHECK ("events"."resource_type" in ('vm', 'disk', 'vpc-firewall-rule', 'snapshot', 'backup', 'image')) NOT VALID;
