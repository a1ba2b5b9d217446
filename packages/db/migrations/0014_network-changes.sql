CREATE TABLE "network_changes" (
	"network_id" uuid NOT NULL,
	"xid" "xid8" DEFAULT pg_current_xact_id() NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "network_changes_network_id_xid_pk" PRIMARY KEY("network_id","xid")
);
--> statement-breakpoint
CREATE INDEX "network_changes_xid" ON "network_changes" USING btree ("xid");--> statement-breakpoint
CREATE INDEX "network_changes_created" ON "network_changes" USING btree ("created_at");