import { newId } from '@gantry/model/ids';
import type { ReceiptProperty } from '@gantry/model/receipt-property';
import type { Queryable } from '../../connect.ts';
import { closeInterval } from '../usage/meter.ts';
import { failOperation } from './end-operation.ts';
import type { ClaimedDevice } from './settle-vms.ts';

/** Ends claims. The caller has the proof that the devices are clean; it is not checked here. */

export type Receipt = {
  device: ClaimedDevice;
  serial: string;
  method: string;
  finishedAt: Date;
  failure: { code: string; message: string } | null;
  /** What the cleaning proves. Absent: nothing is known. */
  properties?: readonly ReceiptProperty[];
};

export type ReleaseEffects = {
  /** Null if the VMs are on no host. */
  hostId: string | null;
  /** The host that takes over the disks of this one. */
  heirId?: string | null;
  /** VMs that are removed, whether they are released now or were before. */
  removedVmIds?: string[];
  newDiskIds?: string[];
  /** Disks that another host keeps, and that it may have to grow or to remove when the VMs are released. */
  keptElsewhereIds?: string[];
};

/** The last receipt of a device is never removed. A device that was not cleaned is quarantined. */
export async function insertReceipts(
  sql: Queryable,
  of: { hostId: string; vmId: string; projectId: string; receipts: Receipt[] },
): Promise<void> {
  for (const { device, serial, method, finishedAt, failure, properties = [] } of of.receipts) {
    await sql`insert into device_receipts
      (id, device_id, kind, host_id, pci_address, serial, vm_id, project_id, method, finished_at, failure_code, failure_message,
        properties)
      values (${newId()}, ${device.id}, ${device.kind}, ${of.hostId}, ${device.pci_address}, ${serial}, ${of.vmId},
        ${of.projectId}, ${method}, ${finishedAt}, ${failure?.code ?? ''}, ${failure?.message ?? ''},
        ${sql.json(properties)})`;
    if (!failure) continue;
    const reason = `not proven clean after VM ${of.vmId}: ${failure.message} (${failure.code})`;
    await sql`update devices set state = 'quarantined', state_reason = ${reason} where id = ${device.id}`;
  }
}

/**
 * Locks the spec numbers of all hosts whose specs change with this report, in the order of host ids:
 * rules that name a removed VM change, VMs on other hosts may have a disk that exists from now on, and other
 * hosts may keep disks of the VMs.
 * Locks the networks of removed VMs too, so that these hosts stay the same. If VMs of several
 * projects are removed, locks the projects' quotas, which come after everything else.
 */
export async function lockAffectedHosts(
  sql: Queryable,
  {
    hostId,
    heirId = null,
    removedVmIds = [],
    newDiskIds = [],
    keptElsewhereIds = [],
  }: ReleaseEffects,
): Promise<void> {
  if (removedVmIds.length > 0) await sql`select lock_networks_of_vms(${removedVmIds}::uuid[])`;
  // One array, because conditions with "or" would scan all hosts.
  await sql`select from host_revisions where host_id = any(array[${hostId}::uuid, ${heirId}::uuid]
      || array(select hosts_with_rules_on(${removedVmIds}::uuid[]))
      || array(select p.host_id from placements p join disk_attachments a on a.vm_id = p.vm_id
        where a.disk_id = any(${newDiskIds}::uuid[]))
      || array(select d.host_id from disks d where d.id = any(${keptElsewhereIds}::uuid[])))
    order by host_id for update`;
  if (removedVmIds.length < 2) return;
  await sql`select from quotas where type in ('gpus', 'vms') and project_id in (select project_id from vms
      where id = any(${removedVmIds}::uuid[]))
    order by project_id, type for no key update`;
}

/** Ends the claims on some devices of a host. The VM keeps its other devices and its place. */
export async function releaseDevices(
  sql: Queryable,
  { hostId, deviceIds }: { hostId: string; deviceIds: readonly string[] },
): Promise<void> {
  await sql`delete from device_claims where device_id = any(${[...deviceIds]}::uuid[])`;
  // The host must not be told to clean them again, and placement must see that they are free.
  await sql`select bump_hosts(array[${hostId}::uuid])`;
}

/**
 * Releases the VM from its host with its devices and its public address. It keeps its private
 * address. Attachments that were to be removed are removed.
 */
export async function releasePlacement(sql: Queryable, vmId: string): Promise<void> {
  await sql`delete from disk_attachments where vm_id = ${vmId} and desired_state = 'detached'`;
  await sql`delete from device_claims where vm_id = ${vmId}`;
  await sql`update public_addresses p
    set network_interface_id = null, released_at = now(), last_project_id = v.project_id
    from network_interfaces i join vms v on v.id = i.vm_id
    where p.network_interface_id = i.id and i.vm_id = ${vmId}`;
  await sql`delete from placements where vm_id = ${vmId}`;
  await sql`update vms set placed = false, reachable = true where id = ${vmId}`;
}

/**
 * Removes a VM that is not placed, with its OS disk and addresses. Data disks stay, except for those that were created
 * with a VM that could not be created. The caller has locked its disks.
 */
export async function removeVm(sql: Queryable, vmId: string): Promise<void> {
  await removeDisksOfFailedCreation(sql, vmId);
  await sql`delete from address_claims
    where network_interface_id in (select id from network_interfaces where vm_id = ${vmId})`;
  const osDisks = await sql<{ disk_id: string }[]>`
    delete from disk_attachments where vm_id = ${vmId} and attachment_type = 'os' returning disk_id`;
  await sql`delete from disks where id = any(${osDisks.map(({ disk_id }) => disk_id)}::uuid[])`;
  // This is last, because it locks the project's quota, which other creations need.
  await sql`delete from vms where id = ${vmId}`;
}

/** A disk that another VM has too stays. The host that has made a disk removes it; metering ends now. */
async function removeDisksOfFailedCreation(sql: Queryable, vmId: string): Promise<void> {
  const removed = await sql<{ id: string }[]>`
    update disks d set desired_state = 'deleted', updated_at = now() from vms v
    where v.id = ${vmId} and v.abandoned and v.desired_state <> 'deleted' and d.created_with = v.id
      and d.id in (select disk_id from disk_attachments where vm_id = v.id)
      and not exists (select from disk_attachments a where a.disk_id = d.id and a.vm_id <> v.id)
    returning d.id`;
  const failure = { code: 'cancelled', message: 'the VM of the disk could not be created' };
  for (const { id } of removed) {
    await closeInterval(sql, { resourceId: id });
    await failOperation(sql, { resourceId: id, failure });
  }
}
