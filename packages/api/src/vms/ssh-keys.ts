import { badRequest } from '@gantry/model/errors';

/** A host reports all that it knows of a VM in one message, so this has a limit of its own. */
const MAX_TOTAL_BYTES = 64 * 1024;

/** Returns the keys as they are stored, or throws an error that names the field. */
export function toStoredKeys(given: readonly string[]): string[] {
  const keys = given.map((key) => key.trim());
  const total = keys.reduce((sum, key) => sum + Buffer.byteLength(key), 0);
  if (total > MAX_TOTAL_BYTES) {
    throw badRequest([{ field: 'ssh_keys', reason: 'must be at most 64 KiB together' }]);
  }
  return keys;
}
