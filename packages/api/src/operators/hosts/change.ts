import type { Queryable } from '@gantry/db/connect';
import {
  countDisksOnlyOn,
  type HostDetailsRow,
  lockHost,
  readHost,
  removeHost,
  revokeHostCertificates,
  updateAcceptedFacts,
  updateHostAdminState,
  updateHostFenced,
  updateHostLabels,
} from '@gantry/db/queries/hosts/admin-hosts';
import { updateFencesOfHostLiftable } from '@gantry/db/queries/hosts/storage-fences';
import { insertEvents } from '@gantry/db/queries/operations/events';
import { badRequest, CloudError, found } from '@gantry/model/errors';

type Target = { sql: Queryable; hostId: string };

/** Sets the administrative state of a host. Its VMs keep running. Idempotent. */
export async function changeHostAdminState({
  sql,
  hostId,
  adminState,
}: Target & { adminState: 'active' | 'cordoned' }): Promise<HostDetailsRow> {
  await updateHostAdminState(sql, { hostId, adminState });
  return found(await readHost(sql, hostId), 'host');
}

/** Replaces all labels of a host. Idempotent. */
export async function changeHostLabels({
  sql,
  hostId,
  labels,
}: Target & { labels: Record<string, string> }): Promise<HostDetailsRow> {
  await updateHostLabels(sql, { hostId, labels });
  return found(await readHost(sql, hostId), 'host');
}

/** Accepts the last reported hardware and software of the host as correct. Idempotent. */
export async function acceptHost({ sql, hostId }: Target): Promise<HostDetailsRow> {
  const accepted = await updateAcceptedFacts(sql, hostId);
  const host = found(await readHost(sql, hostId), 'host');
  if (!accepted) {
    throw new CloudError(
      'conflict',
      'the host has not reported its hardware yet: try again after its agent has connected',
    );
  }
  return host;
}

/**
 * Drains a host: no new VMs are placed on it, and the tenants of its VMs get an event. Only tenants
 * stop their VMs, so the reply lists the VMs that are left. A second drain sends no events. The
 * lock makes sure that a VM that is placed at the same time gets an event too.
 */
export async function drainHost({ sql, hostId }: Target): Promise<HostDetailsRow> {
  const host = found(await lockHost(sql, hostId), 'host');
  if (host.admin_state === 'draining') return host;
  await updateHostAdminState(sql, { hostId, adminState: 'draining' });
  await insertEvents(
    sql,
    host.vms.map((vm) => ({
      projectId: vm.project_id,
      resourceType: 'vm',
      resourceId: vm.id,
      type: 'vm_host_draining',
      message:
        'the host of this VM will be taken out of service: stop or delete the VM when it suits you',
    })),
  );
  return found(await readHost(sql, hostId), 'host');
}

/**
 * Records an operator's statement that the host is dead, so that its VMs count as gone without a
 * report from it. The operator must confirm the name, and a connected host cannot be fenced. Its
 * certificates are revoked too: a host that returned could otherwise report VMs that run elsewhere
 * by then.
 */
export async function fenceHost({
  sql,
  hostId,
  confirm,
}: Target & { confirm: string }): Promise<HostDetailsRow> {
  const host = found(await lockHost(sql, hostId), 'host');
  if (confirm !== host.name) {
    throw badRequest([{ field: 'confirm', reason: 'must be the name of the host' }]);
  }
  if (host.connected) {
    throw new CloudError(
      'conflict',
      'the host is connected: shut it down or revoke its certificates, then fence it',
    );
  }
  await updateHostFenced(sql, hostId);
  return await revokeCertificates({ sql, hostId });
}

/**
 * Records an operator's statement that no VM of before the fence runs on the server, so that its fence in storage
 * clusters is lifted. It replaces the proof for a server that does not come back with its network cards. Idempotent.
 */
export async function liftStorageFence({
  sql,
  hostId,
  confirm,
}: Target & { confirm: string }): Promise<HostDetailsRow> {
  const host = found(await lockHost(sql, hostId), 'host');
  if (confirm !== host.name) {
    throw badRequest([{ field: 'confirm', reason: 'must be the name of the host' }]);
  }
  if (host.state !== 'fenced') {
    throw new CloudError('conflict', 'the host is not fenced, so there is no fence to lift');
  }
  await updateFencesOfHostLiftable(sql, hostId);
  return found(await readHost(sql, hostId), 'host');
}

/** Disconnects the agent at once; it must enroll again. The VMs of the host keep running. */
export async function revokeCertificates({ sql, hostId }: Target): Promise<HostDetailsRow> {
  await revokeHostCertificates(sql, hostId);
  return found(await readHost(sql, hostId), 'host');
}

/** A concurrent placement waits for the lock, and then its foreign key finds no host. */
export async function deleteHost({ sql, hostId }: Target): Promise<HostDetailsRow> {
  const host = found(await lockHost(sql, hostId), 'host');
  if (host.vm_count > 0) {
    throw new CloudError(
      'conflict',
      `${host.vm_count} VMs are placed on this host: drain it, and wait until they are gone`,
    );
  }
  const disks = await countDisksOnlyOn(sql, hostId);
  if (disks > 0 && host.state !== 'fenced') {
    throw new CloudError(
      'conflict',
      `${disks} disks of tenants are stored only on this host: ask the tenants to delete them, ` +
        'or fence the host to give them up',
    );
  }
  if (host.storage_fences.length > 0) {
    throw new CloudError(
      'conflict',
      `the host is fenced in ${host.storage_fences.join(', ')}: enrol the server again, which lifts the fence when it runs ` +
        'no VM, or lift it with :lift-storage-fence',
    );
  }
  await removeHost(sql, hostId);
  return host;
}
