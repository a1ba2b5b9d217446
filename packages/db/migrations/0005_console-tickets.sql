CREATE TABLE "console_tickets" (
	"hash" text PRIMARY KEY NOT NULL,
	"vm_id" uuid NOT NULL,
	"actor_type" text NOT NULL,
	"actor_id" uuid NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "console_tickets_actor_type" CHECK ("console_tickets"."actor_type" in ('user', 'access_key'))
);
--> statement-breakpoint
ALTER TABLE "schedulers" ADD COLUMN "address" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "console_tickets" ADD CONSTRAINT "console_tickets_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "console_tickets_age" ON "console_tickets" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "console_tickets_vm" ON "console_tickets" USING btree ("vm_id");