import type { Sql } from '@gantry/db/connect';
import { failOperation } from '@gantry/db/queries/settle/end-operation';
import { undoGrowth } from '@gantry/db/queries/settle/settle-vms';
import { lockVmsOfDisk } from '@gantry/db/queries/vms/disks';
import { transact } from '@gantry/db/transact';
import type { FailedGrowth } from './vm-settling.ts';

/** Reverts the size of a disk that a host could not grow. After a crash here, the deadline does it. */
export async function failGrowth(pool: Sql, { diskId, failure }: FailedGrowth): Promise<void> {
  await transact(pool, async (sql) => {
    await lockVmsOfDisk(sql, diskId);
    await undoGrowth(sql, diskId);
    await failOperation(sql, { resourceId: diskId, failure });
  });
}
