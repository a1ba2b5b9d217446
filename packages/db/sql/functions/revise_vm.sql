-- Increments the revision of a VM if it should start, stop or boot again, or if its host should take it down in
-- another way: a VM that is removed, or that is moved before it ever ran, loses its OS disk.
CREATE OR REPLACE FUNCTION revise_vm() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.generation <> OLD.generation OR NEW.desired_state <> OLD.desired_state OR NEW.relocating <> OLD.relocating
    OR NEW.abandoned <> OLD.abandoned
    OR NEW.relocating AND (NEW.observed_state = 'none') <> (OLD.observed_state = 'none')
    OR vm_should_run(NEW.desired_state, NEW.abandoned, NEW.observed_state, NEW.observed_generation, NEW.generation)
    <> vm_should_run(OLD.desired_state, OLD.abandoned, OLD.observed_state, OLD.observed_generation, OLD.generation)
  THEN
    NEW.revision := greatest(OLD.revision + 1, count_floor());
  END IF;
  RETURN NEW;
END $$;
