-- Records that VMs of these networks were placed or released, or have other addresses. The hosts of the
-- networks learn about it from schedulers, and their spec numbers do not change.
CREATE OR REPLACE FUNCTION note_network_changes(ids uuid[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF ids IS NULL THEN RETURN; END IF;
  INSERT INTO network_changes (network_id) SELECT DISTINCT unnest(ids) ON CONFLICT DO NOTHING;
END $$;
