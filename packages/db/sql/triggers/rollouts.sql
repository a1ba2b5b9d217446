CREATE OR REPLACE TRIGGER rollouts_inserted AFTER INSERT ON rollouts FOR EACH ROW EXECUTE FUNCTION stream_rollout();

CREATE OR REPLACE TRIGGER rollouts_streamed AFTER UPDATE ON rollouts FOR EACH ROW
  WHEN ((NEW.state, NEW.state_reason, NEW.wave) IS DISTINCT FROM (OLD.state, OLD.state_reason, OLD.wave))
  EXECUTE FUNCTION stream_rollout();
