import type { DeviceKind } from '@gantry/model/host-states';
import type { ReceiptProperty } from '@gantry/model/receipt-property';
import type { Queryable } from '../../connect.ts';
import { LAST_ID } from '../page-bounds.ts';

/** Receipts: a device was cleaned after a VM, or cleaning failed. */

export type DeviceReceiptRow = {
  id: string;
  device_id: string;
  kind: DeviceKind;
  host_id: string;
  pci_address: string;
  serial: string;
  vm_id: string;
  project_id: string;
  method: string;
  finished_at: Date;
  failure_code: string;
  failure_message: string;
  properties: ReceiptProperty[];
};

const columns = (sql: Queryable) => sql`id, device_id, kind, host_id, pci_address, serial, vm_id,
  project_id, method, finished_at, failure_code, failure_message, properties`;

/** `before` is the last id of the previous page. Lists have the newest first. */
type ReceiptPage = { before: string | null; limit: number };

export async function listReceiptsOfDevice(
  sql: Queryable,
  { deviceId, before, limit }: ReceiptPage & { deviceId: string },
): Promise<DeviceReceiptRow[]> {
  return await sql<DeviceReceiptRow[]>`
    select ${columns(sql)} from device_receipts
    where device_id = ${deviceId} and id < ${before ?? LAST_ID}
    order by id desc limit ${limit}`;
}

/** Lists the receipts of every device that a VM of the project had. */
export async function listReceiptsOfProject(
  sql: Queryable,
  { projectId, before, limit }: ReceiptPage & { projectId: string },
): Promise<DeviceReceiptRow[]> {
  return await sql<DeviceReceiptRow[]>`
    select ${columns(sql)} from device_receipts
    where project_id = ${projectId} and id < ${before ?? LAST_ID}
    order by id desc limit ${limit}`;
}

export async function readReceiptOfProject(
  sql: Queryable,
  { projectId, id }: { projectId: string; id: string },
): Promise<DeviceReceiptRow | undefined> {
  const [row] = await sql<DeviceReceiptRow[]>`
    select ${columns(sql)} from device_receipts where project_id = ${projectId} and id = ${id}`;
  return row;
}
