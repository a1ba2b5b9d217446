ALTER TABLE "era_differences" VALIDATE CONSTRAINT "era_differences_kind";
