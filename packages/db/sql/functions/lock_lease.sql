-- Returns whether the scheduler holds the lease of the location now. Until the transaction ends, no other
-- process can acquire it; its holder can renew it meanwhile, so that a session that hangs here does not cost
-- the holder its lease. Until a new history of the database has an era, no lease is held: nothing is known
-- about what hosts have. Every transaction in which a holder writes calls it first.
--
-- From here on the transaction may wait for a lock, or be idle, for one second. This is much shorter than
-- the lease, so that a process that stops in a transaction does not block others.
CREATE OR REPLACE FUNCTION lock_lease(lease_location text, lease_holder uuid, lease_epoch bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('idle_in_transaction_session_timeout', '1000', true), set_config('lock_timeout', '1000', true);
  PERFORM FROM leases WHERE location = lease_location AND holder = lease_holder AND epoch = lease_epoch
    AND expires_at > clock_timestamp() AND EXISTS (SELECT FROM installation WHERE history = current_history())
    FOR KEY SHARE;
  RETURN FOUND;
END $$;
