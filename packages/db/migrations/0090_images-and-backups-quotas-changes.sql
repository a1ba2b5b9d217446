ALTER TABLE "quotas" DROP CONSTRAINT "quotas_type";--> statement-breakpoint
ALTER TABLE "quotas" ADD CONSTRAINT "quotas_type" CHECK ("quotas"."type" in ('vms', 'gpus', 'disks', 'disk_gib', 'snapshots', 'snapshot_gib', 'backups', 'backup_gib', 'images', 'image_gib', 'firewall_rules', 'networks', 'subnets', 'access_keys', 'public_addresses')) NOT VALID;
