ALTER TABLE "stream_events" VALIDATE CONSTRAINT "stream_events_type";
