CREATE TABLE "stray_hosts" (
	"host_id" uuid PRIMARY KEY NOT NULL,
	"address" text NOT NULL,
	"last_seen_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "era_differences" DROP CONSTRAINT "era_differences_kind";--> statement-breakpoint
ALTER TABLE "era_differences" ADD COLUMN "network_id" uuid;--> statement-breakpoint
ALTER TABLE "era_differences" ADD CONSTRAINT "era_differences_kind" CHECK ("era_differences"."kind" in ('absent', 'ahead', 'vm_changed', 'disk_attached', 'disk_detached', 'disk_grown', 'disk_unknown', 'disk_missing', 'network_changed')) NOT VALID;