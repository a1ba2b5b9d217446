ALTER TABLE "address_claims" DROP CONSTRAINT "address_claims_network_interface_id_network_interfaces_id_fk";--> statement-breakpoint
ALTER TABLE "address_claims" DROP CONSTRAINT "address_claims_subnet_id_subnets_id_fk";--> statement-breakpoint
DROP INDEX "network_interfaces_subnet";--> statement-breakpoint
ALTER TABLE "network_interfaces" ADD CONSTRAINT "network_interfaces_subnet_key" UNIQUE("subnet_id","id");--> statement-breakpoint
ALTER TABLE "address_claims" ADD CONSTRAINT "address_claims_interface_fk" FOREIGN KEY ("network_interface_id","subnet_id") REFERENCES "public"."network_interfaces"("id","subnet_id") ON DELETE no action ON UPDATE no action;
--> statement-breakpoint
-- Which networks are concerned is found first, by itself: joined with everything else, a plan made while
-- there were few placements read every interface of a network for each of them. Mostly there is none.
CREATE FUNCTION hosts_in_networks(networks uuid[]) RETURNS SETOF uuid LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF cardinality(networks) = 0 THEN RETURN; END IF;
  RETURN QUERY SELECT DISTINCT p.host_id FROM network_interfaces n JOIN placements p ON p.vm_id = n.vm_id
    WHERE n.network_id = ANY(networks);
END $$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION hosts_meeting(ids uuid[]) RETURNS SETOF uuid LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF ids IS NULL THEN RETURN; END IF;
  RETURN QUERY SELECT hosts_in_networks(ARRAY(SELECT DISTINCT network_id FROM network_interfaces WHERE vm_id = ANY(ids)));
END $$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION hosts_naming(ids uuid[]) RETURNS SETOF uuid LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF ids IS NULL THEN RETURN; END IF;
  RETURN QUERY SELECT hosts_in_networks(ARRAY(SELECT DISTINCT r.network_id FROM firewall_rules r,
      jsonb_array_elements(r.sources || r.destinations) endpoint
    WHERE r.project_id IN (SELECT project_id FROM vms WHERE id = ANY(ids))
      AND endpoint ->> 'resource_id' = ANY(ids::text[])));
END $$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION bump_hosts_naming_vm() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  ids uuid[];
  spanning uuid[];
BEGIN
  SELECT array_agg(n.vm_id), array_agg(n.vm_id) FILTER (WHERE h.underlay_address IS NOT NULL) INTO ids, spanning
    FROM changed c JOIN network_interfaces n ON n.id = c.network_interface_id
    LEFT JOIN placements p ON p.vm_id = n.vm_id LEFT JOIN hosts h ON h.id = p.host_id;
  PERFORM bump_hosts(array_agg(naming)) FROM hosts_naming(ids) naming;
  PERFORM bump_spanned(array_agg(met)) FROM hosts_meeting(spanning) met;
  RETURN NULL;
END $$;
