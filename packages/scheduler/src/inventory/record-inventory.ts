import type { Sql } from '@gantry/db/connect';
import {
  updateInventory,
  updateMissingDevices,
  upsertDrives,
  upsertGpus,
} from '@gantry/db/queries/inventories';
import { transact } from '@gantry/db/transact';
import type { Inventory__Output } from '@gantry/proto/generated/gantry/v1/Inventory';
import { hostPartsOf } from './host-parts.ts';

/** Writes down what a host is made of, where it differs from what is known. */
export async function recordInventory(
  pool: Sql,
  {
    hostId,
    streamEpoch,
    inventory,
  }: { hostId: string; streamEpoch: string; inventory: Inventory__Output },
): Promise<void> {
  const { numaNodes, gpus, drives, sharedStorage } = hostPartsOf(inventory);
  await transact(pool, async (sql) => {
    const isNews = await updateInventory(sql, {
      ...{ hostId, streamEpoch, inventory, numaNodes, sharedStorage },
    });
    if (!isNews) return;
    if (gpus.length > 0) await upsertGpus(sql, { hostId, gpus });
    if (drives.length > 0) await upsertDrives(sql, { hostId, drives });
    const addressOf = ({ pciAddress }: { pciAddress: string }) => pciAddress;
    await updateMissingDevices(sql, {
      hostId,
      gpus: gpus.map(addressOf),
      drives: drives.map(addressOf),
    });
  });
}
