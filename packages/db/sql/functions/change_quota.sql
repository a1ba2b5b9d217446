-- Changes a quota counter of a project. The triggers on the counted tables call it, so that no code
-- path can add or remove a row without counting it. The lock on the counter's row serialises
-- concurrent creations in one project, so that exactly as many succeed as the limit allows.
-- Raises SQLSTATE GQ001 with the quota as JSON in the detail if the limit would be exceeded.
CREATE OR REPLACE FUNCTION change_quota(project uuid, quota text, change bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  row_after record;
BEGIN
  IF change = 0 THEN RETURN; END IF;
  UPDATE quotas SET used = used + change
    WHERE project_id = project AND type = quota
    RETURNING used, max INTO row_after;
  IF change > 0 AND row_after.used > row_after.max THEN
    RAISE EXCEPTION 'quota exceeded' USING ERRCODE = 'GQ001',
      DETAIL = json_build_object('type', quota, 'max', row_after.max,
        'used', row_after.used - change, 'requested', change)::text;
  END IF;
END $$;
