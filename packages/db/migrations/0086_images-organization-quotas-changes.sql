ALTER TABLE "organization_quotas" DROP CONSTRAINT "organization_quotas_type";--> statement-breakpoint
ALTER TABLE "organization_quotas" ADD CONSTRAINT "organization_quotas_type" CHECK ("organization_quotas"."type" in ('projects', 'vms', 'gpus', 'disks', 'disk_gib', 'snapshots', 'snapshot_gib', 'images', 'image_gib', 'firewall_rules', 'networks', 'access_keys', 'public_addresses')) NOT VALID;
