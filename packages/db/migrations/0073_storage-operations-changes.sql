ALTER TABLE "operations" DROP CONSTRAINT "operations_resource_type";--> statement-breakpoint
ALTER TABLE "operations" DROP CONSTRAINT "operations_name";--> statement-breakpoint
ALTER TABLE "operations" ADD CONSTRAINT "operations_resource_type" CHECK ("operations"."resource_type" in ('vm', 'disk', 'vpc-firewall-rule', 'snapshot')) NOT VALID;--> statement-breakpoint
ALTER TABLE "operations" ADD CONSTRAINT "operations_name" CHECK ("operations"."name" in ('CREATE', 'UPDATE', 'DELETE', 'START', 'STOP', 'RESET', 'MOVE', 'ATTACH_DISKS', 'DETACH_DISKS', 'RESTORE')) NOT VALID;
