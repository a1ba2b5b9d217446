import { CloudError, type ErrorCode, outOfStorage } from '@gantry/model/errors';
import postgres from 'postgres';

/**
 * Translates errors of PostgreSQL and of the driver. Constraints enforce the rules of the contract,
 * so a violation is an expected outcome. It is recognised by the constraint's name or the SQLSTATE,
 * never by the text of the message.
 */
const CONSTRAINTS: Record<string, [ErrorCode, string]> = {
  vms_name_key: ['name_taken', 'another VM of the project has this name: choose another'],
  disks_name_key: ['name_taken', 'another disk of the project has this name: choose another'],
  snapshots_name_key: [
    'name_taken',
    'another snapshot of the project has this name: choose another',
  ],
  backups_name_key: ['name_taken', 'another backup of the project has this name: choose another'],
  networks_name_key: ['name_taken', 'another network of the project has this name: choose another'],
  subnets_name_key: ['name_taken', 'another subnet of the project has this name: choose another'],
  firewall_rules_name_key: [
    'name_taken',
    'another firewall rule of the project has this name: choose another',
  ],
  access_keys_name_key: [
    'name_taken',
    'another access key of the project has this name: choose another',
  ],
  ssh_keys_name_key: ['name_taken', 'another SSH key of the project has this name: choose another'],
  webhooks_name_key: ['name_taken', 'another webhook has this name: choose another'],
  projects_name_key: [
    'name_taken',
    'another project of the organization has this name: choose another',
  ],
  user_ssh_keys_name_key: ['name_taken', 'another SSH key of yours has this name: choose another'],
  images_owner_name_key: ['name_taken', 'another image has this name: choose another'],
  users_email_key: ['name_taken', 'another user has this e-mail address'],
  storage_clusters_name_key: [
    'name_taken',
    'another storage cluster has this name: choose another',
  ],
  storage_pools_name_key: ['name_taken', 'this pool of the storage cluster is connected already'],
  locations_pkey: ['name_taken', 'another location has this name: choose another'],
  vm_types_pkey: ['name_taken', 'another VM type has this name: choose another'],
  members_once: ['conflict', 'the user already has a role there: remove it first'],
  operations_unfinished_key: [
    'operation_in_progress',
    'an earlier operation on this resource is unfinished: wait for it to end, then try again',
  ],
  network_interfaces_mac_key: [
    'unavailable',
    'the generated MAC address is already in use: try again',
  ],
  disk_attachments_exclusive_key: [
    'disk_attached',
    'the disk is already attached for writing: detach it first',
  ],
  reserved_addresses_name_key: [
    'name_taken',
    'another public address of the project has this name: choose another',
  ],
  reserved_addresses_interface_key: [
    'conflict',
    'the VM has a reserved public address: detach it first',
  ],
  rollout_hosts_active_key: [
    'conflict',
    'a host of this rollout is part of another rollout that has not ended: wait for its end, or cancel it',
  ],
  disk_attachments_vm_id_disk_id_pk: ['disk_attached', 'the disk is already attached to this VM'],
};

/** The quota triggers raise it. */
const QUOTA_EXCEEDED = 'GQ001';
/** A trigger raises it if the firewall rules of a network would be too large. */
const RULES_TOO_LARGE = 'GR001';
/** A trigger raises it if every VXLAN number is used or rests. */
const NO_VNI = 'GV001';
/** A trigger raises it if a suspended organization creates or starts a VM. */
const SUSPENDED = 'GS001';
/** `choose_pool` raises it if no storage pool of the location has room for a new disk. */
const NO_POOL = 'GC001';
/** `place_vms` raises it if something is not as it was decided. */
const NOT_AS_DECIDED = 'GP001';
const FOREIGN_KEY_VIOLATION = '23503';
/**
 * The server refused the connection or the statement: it is full, starting, read-only after a
 * failover, or does not accept the login; there was a deadlock, or the statement was cancelled.
 * Nothing was written, and the request is safe to repeat.
 */
const REFUSED =
  /^(08001|08004|25006|28...|3D000|40001|40P01|53...|55000|55P03|57014|57P03|CONNECT_TIMEOUT|ECONNREFUSED|ENOTFOUND)$/;
/**
 * The connection was lost. If that was during COMMIT, the transaction may be written or not: the
 * server may have committed and its reply was lost. A client that repeats the request with the same
 * Idempotency-Key gets the first reply in that case.
 */
const LOST = /^(08...|40003|57...|CONNECTION_.*|ECONN.*|EPIPE|ETIMEDOUT)$/;

export function toCloudError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof CloudError) return error;
  if (error instanceof postgres.PostgresError) {
    const known = CONSTRAINTS[error.constraint_name ?? ''];
    if (known) return new CloudError(known[0], known[1], { cause: error });
    if (error.code === QUOTA_EXCEEDED) return quotaExceeded(error);
    if (error.code === RULES_TOO_LARGE) return rulesTooLarge(error);
    if (error.code === NO_VNI) {
      return new CloudError(
        'unavailable',
        'every network number is in use, or was until a moment ago: delete networks, or try again in an hour',
        { cause: error },
      );
    }
    if (error.code === SUSPENDED) return suspended(error);
    if (error.code === NO_POOL) return noPool(error);
    if (error.code === FOREIGN_KEY_VIOLATION) {
      return new CloudError(
        'conflict',
        'another resource still refers to this one, or a resource of the request was deleted: check both',
        {
          cause: error,
        },
      );
    }
  }
  const code = 'code' in error ? String(error.code) : '';
  if (REFUSED.test(code)) {
    return new CloudError('unavailable', 'the database is not available: try again shortly', {
      cause: error,
    });
  }
  if (LOST.test(code)) return connectionLost(error);
  return error;
}

function connectionLost(cause: Error): CloudError {
  return new CloudError(
    'unavailable',
    'the connection to the database was lost: try again shortly. A change may have been made nevertheless: ' +
      'repeat the request with the same Idempotency-Key, or read the resource before you repeat it without one',
    { cause },
  );
}

/** Returns whether a required value was null, because what it was selected from does not exist. */
export function isMissingValue(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.code === '23502';
}

const LOST_RACES = ['23505', FOREIGN_KEY_VIOLATION, '40001', '40P01', '55P03', NOT_AS_DECIDED];

/**
 * Returns whether a write failed because of a concurrent one: a key is taken, a referenced row is
 * gone or not as it was, or a lock was not available in time. The caller has to read again what it
 * decided on.
 */
export function isLostRace(error: unknown): boolean {
  return error instanceof postgres.PostgresError && LOST_RACES.includes(error.code);
}

/** Data exceptions of PostgreSQL: a value that the column or the conversion cannot take. */
const DATA_EXCEPTION = /^22/;

/** Returns whether a statement can never succeed with these values, however often it is tried. */
export function isBadValue(error: unknown): boolean {
  if (error instanceof postgres.PostgresError) return DATA_EXCEPTION.test(error.code);
  return error instanceof RangeError || error instanceof TypeError;
}

/** Returns whether the Idempotency-Key was used before. */
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
    `the ${quota['scope']}'s quota of ${quota['type']} is ${quota['max']}, ${quota['used']} used: delete resources or ask the operator for a higher quota`,
    { details: quota, cause: error },
  );
}

function rulesTooLarge(error: postgres.PostgresError): CloudError {
  const limit = JSON.parse(error.detail ?? '{}') as Record<string, string | number>;
  return new CloudError(
    'quota_exceeded',
    `${limit['field']}: the firewall rules of one network may have ${limit['max']} bytes, the others have ` +
      `${limit['used']} and this rule has ${limit['requested']}: give it fewer entries, or delete other rules of the network`,
    { details: limit, cause: error },
  );
}

function noPool(error: postgres.PostgresError): CloudError {
  const { location, disk_type, gib } = JSON.parse(error.detail ?? '{}') as {
    location: string;
    disk_type: string;
    gib: number;
  };
  return outOfStorage({ location, diskType: disk_type, gib });
}

function suspended(error: postgres.PostgresError): CloudError {
  const { cause, reason } = JSON.parse(error.detail ?? '{}') as { cause?: string; reason?: string };
  const code = cause === 'payment' ? 'payment_required' : 'forbidden';
  const message = `the organization is suspended and cannot create or start VMs: ${reason}`;
  return new CloudError(code, message, { cause: error });
}
