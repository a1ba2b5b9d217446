ALTER TABLE "stream_events" DROP CONSTRAINT "stream_events_type";--> statement-breakpoint
ALTER TABLE "stream_events" ADD CONSTRAINT "stream_events_type" CHECK ("stream_events"."type" in ('operation', 'vm', 'event', 'host', 'devices', 'rollout', 'rollout_host')) NOT VALID;
