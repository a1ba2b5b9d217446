-- Refuses to change or remove a row that is final, such as the usage of a closed day.
CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the rows of % are final', TG_TABLE_NAME USING ERRCODE = 'restrict_violation',
    HINT = 'A correction of a closed day is a row in usage_adjustments.';
END $$;
