CREATE OR REPLACE TRIGGER operations_streamed AFTER INSERT ON operations FOR EACH ROW EXECUTE FUNCTION stream_operation();

CREATE OR REPLACE TRIGGER operations_end_streamed AFTER UPDATE OF state ON operations FOR EACH ROW
  WHEN (NEW.state <> OLD.state) EXECUTE FUNCTION stream_operation();
