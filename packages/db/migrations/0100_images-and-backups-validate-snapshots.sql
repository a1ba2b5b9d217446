ALTER TABLE "snapshots" VALIDATE CONSTRAINT "snapshots_freeze_state";
