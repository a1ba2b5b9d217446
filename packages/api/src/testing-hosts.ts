import type { Queryable } from '@gantry/db/connect';
import { newId } from '@gantry/model/ids';

/** The scheduler's part, for tests that have none: hosts that joined, and VMs placed on them. */

export type TestHost = { id: string; name: string; gpuIds: string[]; driveIds: string[] };
type HostOptions = { name: string; location?: string; model?: string; gpus?: number };

let joined = 0;

/** A host with as many drives as GPUs, all of them ready and free. */
export async function joinHost(
  sql: Queryable,
  { name, location = 'eu-north-a', model = 'A40 48GB PCIe', gpus = 2 }: HostOptions,
): Promise<TestHost> {
  joined += 1;
  // Of two ids of one millisecond either may be the greater: these are in the order of joining.
  const host: TestHost = { id: newId(Date.now() + joined), name, gpuIds: [], driveIds: [] };
  await sql`insert into hosts (id, location, name) values (${host.id}, ${location}, ${name})`;
  for (let slot = 0; slot < gpus; slot += 1) {
    const gpuId = newId();
    const driveId = newId();
    await sql`insert into gpus (id, host_id, pci_address, model, numa_node)
      values (${gpuId}, ${host.id}, ${pciAddress(0x10 + slot)}, ${model}, ${slot % 2})`;
    await sql`insert into drives (id, host_id, pci_address, size_gb, numa_node)
      values (${driveId}, ${host.id}, ${pciAddress(0x80 + slot)}, 960, ${slot % 2})`;
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
  for (const id of gpuIds) {
    await sql`insert into gpu_claims (gpu_id, vm_id) values (${id}, ${vmId})`;
  }
  for (const id of driveIds) {
    await sql`insert into drive_claims (drive_id, vm_id) values (${id}, ${vmId})`;
  }
}

/** Nothing of the VM is left on its host. */
export async function unplaceVm(sql: Queryable, vmId: string): Promise<void> {
  await sql`delete from gpu_claims where vm_id = ${vmId}`;
  await sql`delete from drive_claims where vm_id = ${vmId}`;
  await sql`delete from placements where vm_id = ${vmId}`;
}
