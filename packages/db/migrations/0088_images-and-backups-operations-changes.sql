ALTER TABLE "operations" DROP CONSTRAINT "operations_resource_type";--> statement-breakpoint
ALTER TABLE "operations" ADD CONSTRAINT "operations_resource_type" CHECK ("operations"."resource_type" in ('vm', 'disk', 'vpc-firewall-rule', 'snapshot', 'backup', 'image')) NOT VALID;
