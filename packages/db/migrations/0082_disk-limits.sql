CREATE TABLE "disk_limits" (
	"disk_type" text PRIMARY KEY NOT NULL,
	"total_iops" bigint DEFAULT 0 NOT NULL,
	"read_iops" bigint DEFAULT 0 NOT NULL,
	"write_iops" bigint DEFAULT 0 NOT NULL,
	"total_bytes_per_second" bigint DEFAULT 0 NOT NULL,
	"read_bytes_per_second" bigint DEFAULT 0 NOT NULL,
	"write_bytes_per_second" bigint DEFAULT 0 NOT NULL,
	"iops_per_gib" bigint DEFAULT 0 NOT NULL,
	"bytes_per_second_per_gib" bigint DEFAULT 0 NOT NULL,
	"burst_percent" integer DEFAULT 0 NOT NULL,
	"burst_seconds" integer DEFAULT 0 NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "disk_limits_disk_type" CHECK ("disk_limits"."disk_type" in ('persistent-ssd')),
	CONSTRAINT "disk_limits_not_negative" CHECK (least("disk_limits"."total_iops", "disk_limits"."read_iops", "disk_limits"."write_iops", "disk_limits"."total_bytes_per_second", "disk_limits"."read_bytes_per_second",
        "disk_limits"."write_bytes_per_second", "disk_limits"."iops_per_gib", "disk_limits"."bytes_per_second_per_gib", "disk_limits"."burst_percent", "disk_limits"."burst_seconds") >= 0),
	CONSTRAINT "disk_limits_total_or_each" CHECK (("disk_limits"."total_iops" + "disk_limits"."iops_per_gib" = 0 or "disk_limits"."read_iops" + "disk_limits"."write_iops" = 0)
        and ("disk_limits"."total_bytes_per_second" + "disk_limits"."bytes_per_second_per_gib" = 0 or "disk_limits"."read_bytes_per_second" + "disk_limits"."write_bytes_per_second" = 0))
);
--> statement-breakpoint
INSERT INTO "disk_limits" ("disk_type") VALUES ('persistent-ssd');
