CREATE TABLE "era_differences" (
	"id" uuid PRIMARY KEY NOT NULL,
	"era" bigint NOT NULL,
	"host_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"vm_id" uuid,
	"disk_id" uuid,
	"outcome" text DEFAULT 'none' NOT NULL,
	CONSTRAINT "era_differences_kind" CHECK ("era_differences"."kind" in ('absent', 'ahead', 'disk_attached', 'disk_detached', 'disk_unknown')),
	CONSTRAINT "era_differences_outcome" CHECK ("era_differences"."outcome" in ('pending', 'started', 'lost', 'gone', 'none'))
);
--> statement-breakpoint
ALTER TABLE "hosts" ADD COLUMN "awaits_comparison" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "era_differences" ADD CONSTRAINT "era_differences_host_id_hosts_id_fk" FOREIGN KEY ("host_id") REFERENCES "public"."hosts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "era_differences_host" ON "era_differences" USING btree ("host_id");