-- Changes a quota counter of a project. The triggers on the counted tables call it, so that no code
-- path can add or remove a row without counting it. The lock on the counter's row serialises
-- concurrent creations in one project, so that exactly as many succeed as the limit allows.
--
-- If the organization has a quota of the type, the sum over its projects is limited too. The row of
-- that quota is locked before the project's, and only by creations: its lock serialises the creations in
-- all projects of the organization, and what the scheduler removes waits for none of them. The sum is
-- read by a statement of its own after the lock, so that it includes what committed meanwhile.
--
-- A transaction that creates several kinds of resources locks the rows of an organization in the order
-- projects, networks, subnets, firewall_rules; or gpus, vms; or disk_gib, disks.
--
-- Raises SQLSTATE GQ001 with the quota as JSON in the detail if a limit would be exceeded.
CREATE OR REPLACE FUNCTION change_quota(project uuid, quota text, change bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  row_after record;
  organization uuid;
  most bigint;
  total bigint;
BEGIN
  IF change = 0 THEN RETURN; END IF;
  IF change > 0 THEN
    SELECT q.organization_id, q.max INTO organization, most
      FROM projects p JOIN organization_quotas q ON q.organization_id = p.organization_id
      WHERE p.id = project AND q.type = quota FOR NO KEY UPDATE OF q;
  END IF;
  UPDATE quotas SET used = used + change
    WHERE project_id = project AND type = quota
    RETURNING used, max INTO row_after;
  IF change > 0 AND row_after.used > row_after.max THEN
    RAISE EXCEPTION 'quota exceeded' USING ERRCODE = 'GQ001',
      DETAIL = json_build_object('scope', 'project', 'type', quota, 'max', row_after.max,
        'used', row_after.used - change, 'requested', change)::text;
  END IF;
  IF most IS NULL THEN RETURN; END IF;
  -- The row of this project has a version for each row that the transaction has inserted: it is not
  -- read again, so that the cost of inserting many rows stays the same.
  SELECT coalesce(sum(q.used), 0) + row_after.used INTO total
    FROM projects p JOIN quotas q ON q.project_id = p.id AND q.type = quota
    WHERE p.organization_id = organization AND p.id <> project;
  IF total > most THEN
    RAISE EXCEPTION 'quota of the organization exceeded' USING ERRCODE = 'GQ001',
      DETAIL = json_build_object('scope', 'organization', 'type', quota, 'max', most,
        'used', total - change, 'requested', change)::text;
  END IF;
END $$;
