-- Returns whether the host of a VM should keep it running.
CREATE OR REPLACE FUNCTION vm_should_run(desired text, abandoned boolean, observed text, observed_generation bigint, generation bigint)
RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT desired = 'running' AND NOT abandoned AND NOT (observed = 'failed' AND observed_generation = generation)
$$;
