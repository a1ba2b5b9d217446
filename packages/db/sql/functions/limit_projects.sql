-- Limits the projects of an organization. The lock on the quota's row serialises their creation.
-- Raises SQLSTATE GQ001 with the quota as JSON in the detail if the limit would be exceeded.
CREATE OR REPLACE FUNCTION limit_projects() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  most bigint;
  total bigint;
BEGIN
  SELECT max INTO most FROM organization_quotas
    WHERE organization_id = NEW.organization_id AND type = 'projects' FOR NO KEY UPDATE;
  SELECT count(*) INTO total FROM projects WHERE organization_id = NEW.organization_id;
  IF total > most THEN
    RAISE EXCEPTION 'quota of projects exceeded' USING ERRCODE = 'GQ001',
      DETAIL = json_build_object('scope', 'organization', 'type', 'projects', 'max', most,
        'used', total - 1, 'requested', 1)::text;
  END IF;
  RETURN NULL;
END $$;
