ALTER TABLE "host_revisions" ADD COLUMN "own_number" bigint DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "host_revisions" ADD COLUMN "spanned_xid" "xid8" DEFAULT '0' NOT NULL;--> statement-breakpoint
ALTER TABLE "hosts" ADD COLUMN "underlay_address" "inet";--> statement-breakpoint
ALTER TABLE "networks" ADD COLUMN "vni" integer NOT NULL GENERATED ALWAYS AS IDENTITY (sequence name "networks_vni_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 16777215 START WITH 1 CACHE 1);--> statement-breakpoint
CREATE INDEX "host_revisions_spanned" ON "host_revisions" USING btree ("spanned_xid");--> statement-breakpoint
ALTER TABLE "networks" ADD CONSTRAINT "networks_vni_key" UNIQUE("vni");
--> statement-breakpoint
-- A network's VMs reach each other over the hosts they are on, so each of those hosts is told of all of
-- them. Whoever places a VM of a network, releases one, or changes where a host is reached therefore
-- holds the network's row FOR NO KEY UPDATE: two at the same moment would not see each other, and
-- neither's host would be told of the other's. Hosts that no other can reach are nobody's news.
CREATE OR REPLACE FUNCTION bump_hosts(ids uuid[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF ids IS NULL THEN RETURN; END IF;
  IF cardinality(ids) > 1 THEN
    PERFORM FROM host_revisions WHERE host_id = ANY(ids) ORDER BY host_id FOR UPDATE;
  END IF;
  UPDATE host_revisions SET number = number + 1, own_number = number + 1, changed_xid = pg_current_xact_id()
    WHERE host_id = ANY(ids);
END $$;
--> statement-breakpoint
-- The same for hosts that only hear of VMs elsewhere: placement need not look at them again.
CREATE FUNCTION bump_spanned(ids uuid[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF ids IS NULL THEN RETURN; END IF;
  PERFORM FROM host_revisions WHERE host_id = ANY(ids) ORDER BY host_id FOR UPDATE;
  UPDATE host_revisions SET number = number + 1, spanned_xid = pg_current_xact_id() WHERE host_id = ANY(ids);
END $$;
--> statement-breakpoint
-- Hosts that have VMs of the networks that these VMs are in.
CREATE FUNCTION hosts_meeting(ids uuid[]) RETURNS SETOF uuid LANGUAGE sql STABLE AS $$
  SELECT DISTINCT p.host_id FROM network_interfaces n JOIN placements p ON p.vm_id = n.vm_id
    WHERE n.network_id IN (SELECT network_id FROM network_interfaces WHERE vm_id = ANY(ids))
$$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION bump_placed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  own uuid[];
  others uuid[];
BEGIN
  SELECT array_agg(host_id) INTO own FROM (
    SELECT host_id FROM changed
    UNION SELECT d.host_id FROM changed c JOIN disk_attachments a ON a.vm_id = c.vm_id
      JOIN disks d ON d.id = a.disk_id
      WHERE d.kind = 'data' AND d.host_id IS NOT NULL AND d.observed_size_gib < d.size_gib) concerned;
  SELECT array_agg(met) INTO others FROM hosts_meeting((SELECT array_agg(c.vm_id)
    FROM changed c JOIN hosts h ON h.id = c.host_id WHERE h.underlay_address IS NOT NULL)) met WHERE met <> ALL(own);
  IF others IS NOT NULL THEN
    PERFORM FROM host_revisions WHERE host_id = ANY(own || others) ORDER BY host_id FOR UPDATE;
  END IF;
  PERFORM bump_hosts(own);
  PERFORM bump_spanned(others);
  RETURN NULL;
END $$;
--> statement-breakpoint
-- Besides those whose rules name the VM, an address is news where the VM's network is, if it is placed.
CREATE OR REPLACE FUNCTION bump_hosts_naming_vm() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM bump_hosts(array_agg(naming)) FROM hosts_naming((SELECT array_agg(n.vm_id)
    FROM changed c JOIN network_interfaces n ON n.id = c.network_interface_id)) naming;
  PERFORM bump_spanned(array_agg(met)) FROM hosts_meeting((SELECT array_agg(p.vm_id)
    FROM changed c JOIN network_interfaces n ON n.id = c.network_interface_id
    JOIN placements p ON p.vm_id = n.vm_id JOIN hosts h ON h.id = p.host_id WHERE h.underlay_address IS NOT NULL)) met;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER address_claims_changed AFTER UPDATE ON address_claims REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION bump_hosts_naming_vm();
--> statement-breakpoint
-- A host is told all subnets of a network, also those it has no VM of.
CREATE FUNCTION bump_hosts_of_subnets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM networks WHERE id IN (SELECT network_id FROM changed) ORDER BY id FOR NO KEY UPDATE;
  PERFORM bump_spanned(array_agg(DISTINCT p.host_id)) FROM network_interfaces n JOIN placements p ON p.vm_id = n.vm_id
    WHERE n.network_id IN (SELECT network_id FROM changed);
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER subnets_added AFTER INSERT ON subnets REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION bump_hosts_of_subnets();
--> statement-breakpoint
CREATE TRIGGER subnets_removed AFTER DELETE ON subnets REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION bump_hosts_of_subnets();
--> statement-breakpoint
-- Its own number is locked with the others, in order: what else changes of the host grows or touches it.
CREATE FUNCTION bump_hosts_reaching() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  others uuid[];
BEGIN
  SELECT array_agg(met) INTO others FROM hosts_meeting((SELECT array_agg(vm_id)
    FROM placements WHERE host_id = NEW.id)) met WHERE met <> NEW.id;
  IF others IS NOT NULL THEN
    PERFORM FROM host_revisions WHERE host_id = ANY(others || NEW.id) ORDER BY host_id FOR UPDATE;
    PERFORM bump_spanned(others);
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
-- By its name it comes before the trigger that touches the host.
CREATE TRIGGER hosts_reached AFTER UPDATE OF underlay_address ON hosts FOR EACH ROW
  WHEN (NEW.underlay_address IS DISTINCT FROM OLD.underlay_address) EXECUTE FUNCTION bump_hosts_reaching();
--> statement-breakpoint
-- Every host is told of its networks from now on.
UPDATE host_revisions SET number = number + 1, own_number = number + 1, changed_xid = pg_current_xact_id();
