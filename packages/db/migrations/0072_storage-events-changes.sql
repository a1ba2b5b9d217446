ALTER TABLE "events" DROP CONSTRAINT "events_resource_type";--> statement-breakpoint
ALTER TABLE "events" DROP CONSTRAINT "events_type";--> statement-breakpoint
ALTER TABLE "events" ADD CONSTRAINT "events_resource_type" CHECK ("events"."resource_type" in ('vm', 'disk', 'vpc-firewall-rule', 'snapshot')) NOT VALID;--> statement-breakpoint
ALTER TABLE "events" ADD CONSTRAINT "events_type" CHECK ("events"."type" in ('vm_crashed', 'vm_unreachable', 'vm_reachable', 'vm_host_draining', 'vm_host_fenced', 'vm_restarted_elsewhere', 'vm_moving', 'vm_device_unhealthy', 'vm_lost', 'vm_orphaned', 'vm_restored', 'vm_organization_warned', 'vm_organization_suspended', 'vm_organization_resumed')) NOT VALID;
