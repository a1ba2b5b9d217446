CREATE OR REPLACE TRIGGER rollout_hosts_ordered AFTER UPDATE ON rollout_hosts
  REFERENCING OLD TABLE AS unchanged NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bump_hosts_of_rollout();

CREATE OR REPLACE TRIGGER rollout_hosts_streamed AFTER UPDATE ON rollout_hosts
  REFERENCING OLD TABLE AS unchanged NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION stream_rollout_hosts();
