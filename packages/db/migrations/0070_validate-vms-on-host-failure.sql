ALTER TABLE "vms" VALIDATE CONSTRAINT "vms_on_host_failure";
