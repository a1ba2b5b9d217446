CREATE OR REPLACE TRIGGER meter_intervals_late AFTER INSERT OR UPDATE OF started_at, ended_at, units
  ON meter_intervals FOR EACH ROW EXECUTE FUNCTION note_late_usage();
