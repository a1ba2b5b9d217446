import {
  insertScheduledBackup,
  listDueSchedules,
  listLateBackups,
  listPrunableBackups,
  postponeSchedule,
  pruneBackup,
} from '@gantry/db/queries/backups/backup-schedules';
import { updateBackupFailed } from '@gantry/db/queries/backups/backup-work';
import type { Lease } from '@gantry/db/queries/placement/leases';
import { newId } from '@gantry/model/ids';
import { LeaseLost, writeWithLease } from '../lease-writes.ts';
import type { VolumeContext } from '../volume-context.ts';

const BATCH_ROWS = 100;

/**
 * Requests the backups that are due in a location, fails those that are not made within a day, and requests the removal
 * of those that schedules no longer keep. All this only writes rows, each in a transaction of its own; the volume
 * controller carries it out.
 */
export async function runSchedules(
  context: Pick<VolumeContext, 'sql' | 'log'>,
  lease: Lease,
): Promise<void> {
  const selection = { location: lease.location, limit: BATCH_ROWS };
  for (const diskId of await listDueSchedules(context.sql, selection)) {
    try {
      const id = newId();
      const backup = { diskId, id, name: nameOf(id, new Date()) };
      await writeWithLease(context, lease, (tx) => insertScheduledBackup(tx, backup));
    } catch (error) {
      if (error instanceof LeaseLost) return;
      context.log.warn({ error, disk_id: diskId }, 'scheduled backup not requested; postponed');
      await writeWithLease(context, lease, (tx) => postponeSchedule(tx, diskId));
    }
  }
  for (const backupId of await listLateBackups(context.sql, selection)) {
    context.log.warn({ backup_id: backupId }, 'scheduled backup not made in time');
    await writeWithLease(context, lease, (tx) =>
      updateBackupFailed(tx, { backupId, problem: 'it was not made in time' }),
    );
  }
  for (const backupId of await listPrunableBackups(context.sql, selection))
    await writeWithLease(context, lease, (tx) => pruneBackup(tx, backupId));
}

/** Unique in the project, because the end of an id is random. */
function nameOf(id: string, at: Date): string {
  const time = at.toISOString().replace(/\..*/, '').replace(/[-:]/g, '').toLowerCase();
  return `auto-${time}-${id.slice(-12)}`;
}
