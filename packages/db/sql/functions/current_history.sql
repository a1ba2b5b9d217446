-- Identifies the history of this database: every promotion of a replica and every recovery to a point in
-- time begins a new timeline of the write-ahead log, and a new cluster has another system identifier.
-- Commits that an earlier history had may be missing in this one.
CREATE OR REPLACE FUNCTION current_history() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) FROM pg_control_system()
$$;
