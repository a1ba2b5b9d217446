DROP INDEX "device_receipts_serial";--> statement-breakpoint
ALTER TABLE "device_receipts" ADD COLUMN "number" bigint NOT NULL GENERATED ALWAYS AS IDENTITY (sequence name "device_receipts_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1);--> statement-breakpoint
CREATE INDEX "drives_serial" ON "drives" USING btree ("serial") WHERE serial <> '';--> statement-breakpoint
CREATE INDEX "device_receipts_serial" ON "device_receipts" USING btree ("serial","number") WHERE serial <> '';