CREATE TABLE "stream_events" (
	"xid" "xid8" DEFAULT pg_current_xact_id() NOT NULL,
	"number" bigint GENERATED ALWAYS AS IDENTITY (sequence name "stream_events_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"project_id" uuid,
	"type" text NOT NULL,
	"data" json NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "stream_events_xid_number_pk" PRIMARY KEY("xid","number"),
	CONSTRAINT "stream_events_type" CHECK ("stream_events"."type" in ('operation', 'vm', 'event', 'host', 'devices'))
);
--> statement-breakpoint
ALTER TABLE "installation" ADD COLUMN "stream_since" "xid8" DEFAULT '0' NOT NULL;--> statement-breakpoint
CREATE INDEX "stream_events_project" ON "stream_events" USING btree ("project_id","xid","number") WHERE project_id is not null;