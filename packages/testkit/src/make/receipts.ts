import type { Queryable } from '@gantry/db/connect';
import { newId } from '@gantry/model/ids';
import type { ReceiptProperty } from '@gantry/model/receipt-property';

export type TestReceipt = {
  deviceId: string;
  projectId: string;
  vmId?: string;
  kind?: 'gpu' | 'drive';
  hostId?: string;
  failure?: { code: string; message: string };
  properties?: ReceiptProperty[];
};

let receipts = 0;

/** Inserts a receipt for a device that was cleaned, or could not be. Returns the receipt's id. */
export async function recordReceipt(sql: Queryable, receipt: TestReceipt): Promise<string> {
  receipts += 1;
  const id = newId(Date.now() + receipts);
  const { deviceId, projectId, vmId = newId(), hostId = newId(), kind = 'gpu', failure } = receipt;
  const { properties = [] } = receipt;
  await sql`insert into device_receipts (id, device_id, kind, host_id, pci_address, serial, vm_id,
      project_id, method, finished_at, failure_code, failure_message, properties)
    values (${id}, ${deviceId}, ${kind}, ${hostId}, '0000:10:00.0', ${kind === 'gpu' ? '' : 'S1'}, ${vmId},
      ${projectId}, ${kind === 'gpu' ? 'flr' : 'sanitize'}, '2030-01-31T12:00:00.5Z',
      ${failure?.code ?? ''}, ${failure?.message ?? ''}, ${sql.json(properties)})`;
  return id;
}
