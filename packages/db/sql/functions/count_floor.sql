-- Returns the smallest value that spec numbers, revisions and generations may have from now on. Hosts keep
-- these counters. If the database lost commits, the counters of a host can be ahead of it, and a counter that
-- is used again would have two meanings. Therefore every counter of a new era starts above all earlier ones:
-- an era is the time at which it began, in seconds since 1970, and no counter grows by 1000 per second. The
-- first era is zero, so that the counters of an installation that never lost a commit stay small.
--
-- If the database has a history that no era belongs to yet, the counters are ahead of the next era already.
CREATE OR REPLACE FUNCTION count_floor() RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT CASE WHEN history = current_history() THEN era * 1000
    ELSE floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint END FROM installation);
END $$;
