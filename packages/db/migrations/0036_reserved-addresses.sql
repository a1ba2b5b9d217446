CREATE TABLE "reserved_addresses" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"name" text NOT NULL,
	"public_address_id" uuid NOT NULL,
	"network_interface_id" uuid,
	"tags" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "reserved_addresses_name_key" UNIQUE("project_id","name"),
	CONSTRAINT "reserved_addresses_address_key" UNIQUE("public_address_id"),
	CONSTRAINT "reserved_addresses_interface_key" UNIQUE("network_interface_id")
);
--> statement-breakpoint
ALTER TABLE "reserved_addresses" ADD CONSTRAINT "reserved_addresses_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "reserved_addresses" ADD CONSTRAINT "reserved_addresses_public_address_id_public_addresses_id_fk" FOREIGN KEY ("public_address_id") REFERENCES "public"."public_addresses"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "reserved_addresses" ADD CONSTRAINT "reserved_addresses_network_interface_id_network_interfaces_id_fk" FOREIGN KEY ("network_interface_id") REFERENCES "public"."network_interfaces"("id") ON DELETE set null ON UPDATE no action;