import { newId } from '@gantry/model/ids';
import type { Queryable } from '../../connect.ts';
import type { ClaimedDevice } from './settle-vms.ts';

/** The end of claims. Whoever calls has the proof in hand; nothing here asks for it. */

export type Receipt = {
  device: ClaimedDevice;
  serial: string;
  method: string;
  finishedAt: Date;
  failure: { code: string; message: string } | null;
};

export type ReleaseEffects = {
  /** Null: on no host. */
  hostId: string | null;
  /** Those that are nowhere from now on, where other hosts could reach theirs. */
  releasedVmIds: string[];
  /** Those that are no more from now on, released before or now. */
  removedVmIds: string[];
  newDiskIds: string[];
};

/** Kept for good. A device that could not be made clean goes to nobody until an operator has seen to it. */
export async function insertReceipts(
  sql: Queryable,
  of: { hostId: string; vmId: string; projectId: string; receipts: Receipt[] },
): Promise<void> {
  for (const { device, serial, method, finishedAt, failure } of of.receipts) {
    await sql`insert into device_receipts
      (id, device_id, kind, host_id, pci_address, serial, vm_id, project_id, method, finished_at, failure_code, failure_message)
      values (${newId()}, ${device.id}, ${device.kind}, ${of.hostId}, ${device.pci_address}, ${serial}, ${of.vmId},
        ${of.projectId}, ${method}, ${finishedAt}, ${failure?.code ?? ''}, ${failure?.message ?? ''})`;
    if (!failure) continue;
    const reason = `not proven clean after VM ${of.vmId}: ${failure.message} (${failure.code})`;
    await sql`update devices set state = 'quarantined', state_reason = ${reason} where id = ${device.id}`;
  }
}

/**
 * What is settled on one host may be other hosts' business too: where VMs of its network are, one that
 * is released can no longer be reached; rules that name a VM change where it is removed; and VMs
 * elsewhere may have a disk that exists from now on. Their numbers are locked here in one order, and
 * neither a rule nor a VM of the VMs' networks comes or changes meanwhile.
 */
export async function lockAffectedHosts(
  sql: Queryable,
  { hostId, releasedVmIds, removedVmIds, newDiskIds }: ReleaseEffects,
): Promise<void> {
  const vmIds = [...new Set([...releasedVmIds, ...removedVmIds])];
  await sql`select from networks where id in (select network_id from network_interfaces
      where vm_id = any(${vmIds}::uuid[]))
    order by id ${releasedVmIds.length > 0 ? sql`for no key update` : sql`for share`}`;
  // As one array: conditions with "or" between them would read every host there is.
  await sql`select from host_revisions where host_id = any(array[${hostId}::uuid]
      || array(select hosts_with_rules_on(${removedVmIds}::uuid[]))
      || array(select hosts_sharing_networks(${releasedVmIds}::uuid[]))
      || array(select p.host_id from placements p join disk_attachments a on a.vm_id = p.vm_id
        where a.disk_id = any(${newDiskIds}::uuid[])))
    order by host_id for update`;
}

/**
 * The VM is nowhere: its devices are free, and so is its public address. It keeps its private one.
 * What was to be detached from it is so.
 */
export async function releasePlacement(sql: Queryable, vmId: string): Promise<void> {
  await sql`delete from disk_attachments where vm_id = ${vmId} and desired_state = 'detached'`;
  await sql`delete from device_claims where vm_id = ${vmId}`;
  await sql`update public_addresses set network_interface_id = null
    where network_interface_id in (select id from network_interfaces where vm_id = ${vmId})`;
  await sql`delete from placements where vm_id = ${vmId}`;
  await sql`update vms set placed = false, reachable = true where id = ${vmId}`;
}

/** The last of a VM that is nowhere: its rows, its OS disk, its addresses. Data disks stay. */
export async function removeVm(sql: Queryable, vmId: string): Promise<void> {
  await sql`delete from address_claims
    where network_interface_id in (select id from network_interfaces where vm_id = ${vmId})`;
  const osDisks = await sql<{ disk_id: string }[]>`
    delete from disk_attachments where vm_id = ${vmId} and attachment_type = 'os' returning disk_id`;
  await sql`delete from disks where id = any(${osDisks.map(({ disk_id }) => disk_id)}::uuid[])`;
  // Last: from here on the project's other creations wait for its quota.
  await sql`delete from vms where id = ${vmId}`;
}
