CREATE TABLE "capacity_samples" (
	"at" timestamp (3) with time zone NOT NULL,
	"location" text NOT NULL,
	"model" text NOT NULL,
	"free" integer NOT NULL,
	"sold" integer NOT NULL,
	"cleaning" integer NOT NULL,
	"blocked" integer NOT NULL,
	"free_on_whole_hosts" integer NOT NULL,
	CONSTRAINT "capacity_samples_at_location_model_pk" PRIMARY KEY("at","location","model")
);
