ALTER TABLE "snapshots" VALIDATE CONSTRAINT "snapshots_place";
