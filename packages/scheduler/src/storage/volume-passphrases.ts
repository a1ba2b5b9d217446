import { randomBytes } from 'node:crypto';
import type { VolumeEncryption } from '@gantry/ceph/storage-cluster';
import { StorageError } from '@gantry/ceph/storage-error';
import type { Lease } from '@gantry/db/queries/placement/leases';
import {
  copyPassphrase,
  ensurePassphrase,
  listSealedPassphrases,
  updateSealedPassphrase,
} from '@gantry/db/queries/storage/volume-passphrases';
import type { VolumeToChange } from '@gantry/db/queries/storage/volume-work';
import { writeWithLease } from './lease-writes.ts';
import type { VolumeContext } from './volume-context.ts';

export const PASSPHRASE_PURPOSE = 'volume passphrase';
const PASSPHRASE_BYTES = 32;

/**
 * Returns the passphrase of a volume that is to be made; undefined if it is not encrypted. It is stored before the volume
 * is made, so that no volume exists that nothing opens. The content of a snapshot or a backup stays as it is encrypted, so
 * a disk that is made of one has its passphrase.
 */
export async function requireEncryption(
  context: VolumeContext,
  { lease, volume }: { lease: Lease; volume: VolumeToChange },
): Promise<VolumeEncryption | undefined> {
  if (!volume.encrypted) return undefined;
  const { disk_id: diskId, pool_id: poolId } = volume;
  const fromDiskId = volume.source?.disk_id ?? volume.backups?.[0]?.disk_id;
  const sealed = await writeWithLease(context, lease, async (tx) => {
    if (fromDiskId !== undefined) return await copyPassphrase(tx, { diskId, poolId, fromDiskId });
    const passphrase = randomBytes(PASSPHRASE_BYTES).toString('base64url');
    const made = context.secrets.seal(PASSPHRASE_PURPOSE, passphrase);
    return await ensurePassphrase(tx, { diskId, poolId, sealed: made });
  });
  if (sealed === undefined) {
    const reason = 'the disk, or the passphrase of what it is made of, does not exist any more';
    throw new StorageError('not_found', reason);
  }
  return { passphrase: context.secrets.unseal(PASSPHRASE_PURPOSE, sealed) };
}

/**
 * Moves the passphrases of a pool to the first of the fleet keys, so that the others can be removed. One that no key opens is
 * left as it is and does not hold up the others.
 */
export async function resealPassphrases(context: VolumeContext, poolId: string): Promise<void> {
  const { sql, secrets, log } = context;
  let unreadable = 0;
  for (const { disk_id: diskId, sealed: from } of await listSealedPassphrases(sql, poolId)) {
    let to: string | undefined;
    try {
      to = secrets.reseal(PASSPHRASE_PURPOSE, from);
    } catch {
      unreadable += 1;
    }
    if (to !== undefined) await updateSealedPassphrase(sql, { diskId, from, to });
  }
  if (unreadable === 0) return;
  const message = 'passphrases of volumes that no line of GANTRY_FLEET_KEY opens';
  log.error({ pool_id: poolId, count: unreadable }, message);
}
