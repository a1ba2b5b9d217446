import { CloudError, type ErrorCode } from '@gantry/model/errors';
import postgres from 'postgres';

/**
 * PostgreSQL's word -> ours. Constraints carry the rules of the contract, so a broken one is an
 * expected answer; it is recognised by its name or its SQLSTATE, never by its text.
 */
const CONSTRAINTS: Record<string, [ErrorCode, string]> = {
  vms_name_key: ['name_taken', 'another VM of the project has this name'],
  disks_name_key: ['name_taken', 'another disk of the project has this name'],
  networks_name_key: ['name_taken', 'another network of the project has this name'],
  subnets_name_key: ['name_taken', 'another subnet of the project has this name'],
  firewall_rules_name_key: ['name_taken', 'another firewall rule of the project has this name'],
  access_keys_name_key: ['name_taken', 'another access key of the project has this name'],
  projects_name_key: ['name_taken', 'another project of the organization has this name'],
  images_name_key: ['name_taken', 'another image has this name'],
  users_email_key: ['name_taken', 'another user has this e-mail'],
  locations_pkey: ['name_taken', 'another location has this name'],
  vm_types_pkey: ['name_taken', 'another VM type has this name'],
  members_once: ['conflict', 'the user has a role there already: remove it first'],
  operations_unfinished_key: [
    'operation_in_progress',
    'an earlier operation on this resource is unfinished: wait for it to end, then try again',
  ],
  network_interfaces_mac_key: ['unavailable', 'the random MAC address was taken: try again'],
  disk_attachments_exclusive_key: ['disk_attached', 'the disk is attached for writing already'],
  disk_attachments_vm_id_disk_id_pk: ['disk_attached', 'the disk is attached to this VM already'],
};

/** Raised by the quota triggers. */
const QUOTA_EXCEEDED = 'GQ001';
const FOREIGN_KEY_VIOLATION = '23503';
/**
 * A server or connection that is gone, full, starting, read-only after a failover, or does not let us
 * in; a deadlock, a cancelled statement. Nothing was written and the request is safe to repeat.
 */
const UNAVAILABLE =
  /^(08...|25006|28...|3D000|40001|40P01|53...|55000|55P03|57...|CONNECT(ION_.*|_TIMEOUT)|ECONN.*|EPIPE|ENOTFOUND|ETIMEDOUT)$/;

export function toCloudError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof CloudError) return error;
  if (error instanceof postgres.PostgresError) {
    const known = CONSTRAINTS[error.constraint_name ?? ''];
    if (known) return new CloudError(known[0], known[1], { cause: error });
    if (error.code === QUOTA_EXCEEDED) return quotaExceeded(error);
    if (error.code === FOREIGN_KEY_VIOLATION) {
      return new CloudError('conflict', 'something still refers to this resource, or it is gone', {
        cause: error,
      });
    }
  }
  const code = 'code' in error ? String(error.code) : '';
  if (UNAVAILABLE.test(code)) {
    return new CloudError('unavailable', 'the database does not answer: try again shortly', {
      cause: error,
    });
  }
  return error;
}

/** Whether a value that had to be found was not. */
export function isMissingValue(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.code === '23502';
}

const LOST_RACES = ['23505', FOREIGN_KEY_VIOLATION, '40001', '40P01', '55P03'];

/**
 * Whether a write was refused because another came first: a key is taken, a row referred to is gone,
 * a lock was not to be had. What it was based on is to be read again.
 */
export function isLostRace(error: unknown): boolean {
  return error instanceof postgres.PostgresError && LOST_RACES.includes(error.code);
}

/** Whether this is the second use of an Idempotency-Key. */
export function isIdempotencyConflict(error: unknown): boolean {
  return (
    error instanceof postgres.PostgresError &&
    error.constraint_name === 'idempotency_keys_actor_id_key_pk'
  );
}

function quotaExceeded(error: postgres.PostgresError): CloudError {
  const quota = JSON.parse(error.detail ?? '{}') as Record<string, string | number>;
  return new CloudError(
    'quota_exceeded',
    `the project's quota of ${quota['type']} is ${quota['max']}, ${quota['used']} used: free some or ask the operator`,
    { details: quota, cause: error },
  );
}
