ALTER TABLE "public_addresses" ADD COLUMN "reserved" boolean DEFAULT false NOT NULL;
