-- Refuses to create or start a VM of a suspended organization.
-- Raises SQLSTATE GS001 with the suspension as JSON in the detail.
CREATE OR REPLACE FUNCTION require_good_standing() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  suspension json;
BEGIN
  SELECT json_build_object('cause', s.cause, 'reason', s.reason) INTO suspension
    FROM projects p JOIN suspensions s ON s.organization_id = p.organization_id WHERE p.id = NEW.project_id;
  IF FOUND THEN
    RAISE EXCEPTION 'organization suspended' USING ERRCODE = 'GS001', DETAIL = suspension::text;
  END IF;
  RETURN NEW;
END $$;
