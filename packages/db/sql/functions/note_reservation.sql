-- Takes a reserved address out of the pool, and returns it to the pool when it is released. The pool is
-- recognised by a column of the address itself, because a transaction that chooses a free address locks the
-- address and sees no reservation that was committed after its snapshot. A released address rests, as after a VM.
-- Raises SQLSTATE GA001 if the address is not free.
CREATE OR REPLACE FUNCTION note_reservation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    UPDATE public_addresses SET reserved = false, released_at = now(), last_project_id = OLD.project_id
      WHERE id = OLD.public_address_id;
    RETURN NULL;
  END IF;
  UPDATE public_addresses SET reserved = true
    WHERE id = NEW.public_address_id AND network_interface_id IS NULL AND NOT reserved;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the public address % is not free', NEW.public_address_id USING ERRCODE = 'GA001';
  END IF;
  RETURN NULL;
END $$;
