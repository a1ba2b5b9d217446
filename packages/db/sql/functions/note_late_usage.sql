-- Notes that a change of an interval reaches back to an earlier day, which may be closed. The
-- scheduler compares the closed days of that time with the intervals and adds adjustments. Changes
-- that concern only today are not noted: today is not closed.
CREATE OR REPLACE FUNCTION note_late_usage() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  today timestamptz := date_trunc('day', clock_timestamp() AT TIME ZONE 'utc') AT TIME ZONE 'utc';
  changed_since timestamptz := NEW.started_at;
  changed_until timestamptz := coalesce(NEW.ended_at, 'infinity');
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF (NEW.started_at, NEW.units) = (OLD.started_at, OLD.units) THEN
      -- Only the time between the old and the new end has changed.
      changed_since := least(changed_until, coalesce(OLD.ended_at, 'infinity'));
    ELSE
      changed_since := least(NEW.started_at, OLD.started_at);
    END IF;
    changed_until := greatest(changed_until, coalesce(OLD.ended_at, 'infinity'));
  END IF;
  IF changed_since < least(today, changed_until) THEN
    INSERT INTO late_usage (organization_id, since, until)
      VALUES (NEW.organization_id, changed_since, nullif(changed_until, 'infinity'));
  END IF;
  RETURN NULL;
END $$;
