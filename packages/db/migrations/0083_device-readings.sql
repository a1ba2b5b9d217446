CREATE TABLE "device_readings" (
	"device_id" uuid NOT NULL,
	"hour" timestamp (3) with time zone NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"measured" jsonb NOT NULL,
	CONSTRAINT "device_readings_device_id_hour_pk" PRIMARY KEY("device_id","hour")
);
--> statement-breakpoint
ALTER TABLE "device_readings" ADD CONSTRAINT "device_readings_device_id_devices_id_fk" FOREIGN KEY ("device_id") REFERENCES "public"."devices"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "device_readings_hour" ON "device_readings" USING btree ("hour");