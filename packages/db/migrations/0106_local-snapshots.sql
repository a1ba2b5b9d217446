ALTER TABLE "snapshots" ALTER COLUMN "pool_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "snapshots" ADD COLUMN "host_id" uuid;--> statement-breakpoint
ALTER TABLE "snapshots" ADD CONSTRAINT "snapshots_place" CHECK (("snapshots"."pool_id" is null) <> ("snapshots"."host_id" is null)) NOT VALID;
