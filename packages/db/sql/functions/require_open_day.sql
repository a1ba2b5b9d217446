-- Refuses to add to a day that is closed. Only the transaction that closes a day may add to it.
CREATE OR REPLACE FUNCTION require_open_day() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM closed_days WHERE date = NEW.date AND xmin = pg_current_xact_id()::xid) THEN
    RAISE EXCEPTION 'the day % is closed: nothing can be added to %', NEW.date, TG_TABLE_NAME
      USING ERRCODE = 'restrict_violation', HINT = 'A correction of a closed day is a row in usage_adjustments.';
  END IF;
  RETURN NEW;
END $$;
