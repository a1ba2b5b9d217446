import type { Queryable } from '@gantry/db/connect';
import { newId } from '@gantry/model/ids';

/** Writes what the scheduler writes, for tests without one: joined hosts and placed VMs. */

export type TestHost = { id: string; name: string; gpuIds: string[]; driveIds: string[] };
type HostSettings = { name: string; location?: string; model?: string; gpus?: number };

let joined = 0;

/** Inserts a host with as many drives as GPUs, all of them ready and free. */
export async function joinHost(
  sql: Queryable,
  { name, location = 'eu-north-a', model = 'A40 48GB PCIe', gpus = 2 }: HostSettings,
): Promise<TestHost> {
  joined += 1;
  // Ids of the same millisecond have no order. Different times give the ids the order of joining.
  const host: TestHost = { id: newId(Date.now() + joined), name, gpuIds: [], driveIds: [] };
  await sql`insert into hosts (id, location, name) values (${host.id}, ${location}, ${name})`;
  for (let slot = 0; slot < gpus; slot += 1) {
    const gpuId = newId();
    const driveId = newId();
    await sql`insert into devices (id, host_id, kind, pci_address, model, numa_node)
      values (${gpuId}, ${host.id}, 'gpu', ${pciAddress(0x10 + slot)}, ${model}, ${slot % 2})`;
    await sql`insert into devices (id, host_id, kind, pci_address, size_gb, numa_node)
      values (${driveId}, ${host.id}, 'drive', ${pciAddress(0x80 + slot)}, 960, ${slot % 2})`;
    host.gpuIds.push(gpuId);
    host.driveIds.push(driveId);
  }
  return host;
}

const pciAddress = (bus: number) => `0000:${bus.toString(16).padStart(2, '0')}:00.0`;

type Placement = { vmId: string; hostId: string; gpuIds?: string[]; driveIds?: string[] };

export async function placeVm(
  sql: Queryable,
  { vmId, hostId, gpuIds = [], driveIds = [] }: Placement,
): Promise<void> {
  await sql`insert into placements (vm_id, host_id, epoch) values (${vmId}, ${hostId}, 1)`;
  for (const id of [...gpuIds, ...driveIds]) {
    await sql`insert into device_claims (device_id, vm_id) values (${id}, ${vmId})`;
  }
}

/** Removes the VM's placement and claims. */
export async function unplaceVm(sql: Queryable, vmId: string): Promise<void> {
  await sql`delete from device_claims where vm_id = ${vmId}`;
  await sql`delete from placements where vm_id = ${vmId}`;
}

/** Connects the host to a scheduler that was last seen `secondsAgo`. Returns the scheduler's id. */
export async function connectHost(
  sql: Queryable,
  { hostId, secondsAgo = 0 }: { hostId: string; secondsAgo?: number },
): Promise<string> {
  const schedulerId = newId();
  await sql`insert into schedulers (id, last_seen_at)
    values (${schedulerId}, now() - make_interval(secs => ${secondsAgo}))`;
  await sql`update hosts set scheduler_id = ${schedulerId} where id = ${hostId}`;
  return schedulerId;
}

/** Inserts a certificate for the host. Returns its serial number. */
export async function certifyHost(sql: Queryable, hostId: string): Promise<string> {
  const serial = newId().replaceAll('-', '');
  await sql`insert into host_certificates (serial, host_id, not_after, created_at)
    values (${serial}, ${hostId}, '2030-01-31T12:00:00Z', '2029-01-31T12:00:00Z')`;
  return serial;
}

export type TestReceipt = {
  deviceId: string;
  projectId: string;
  vmId?: string;
  kind?: 'gpu' | 'drive';
  hostId?: string;
  failure?: { code: string; message: string };
};

let receipts = 0;

/** Inserts a receipt for a device that was cleaned, or could not be. Returns the receipt's id. */
export async function recordReceipt(sql: Queryable, receipt: TestReceipt): Promise<string> {
  receipts += 1;
  const id = newId(Date.now() + receipts);
  const { deviceId, projectId, vmId = newId(), hostId = newId(), kind = 'gpu', failure } = receipt;
  await sql`insert into device_receipts (id, device_id, kind, host_id, pci_address, serial, vm_id,
      project_id, method, finished_at, failure_code, failure_message)
    values (${id}, ${deviceId}, ${kind}, ${hostId}, '0000:10:00.0', ${kind === 'gpu' ? '' : 'S1'}, ${vmId},
      ${projectId}, ${kind === 'gpu' ? 'flr' : 'sanitize'}, '2030-01-31T12:00:00.5Z',
      ${failure?.code ?? ''}, ${failure?.message ?? ''})`;
  return id;
}
