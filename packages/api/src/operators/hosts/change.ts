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
} from '@gantry/db/queries/admin-hosts';
import { insertEvents } from '@gantry/db/queries/events';
import { badRequest, CloudError, notFound } from '@gantry/model/errors';

type Target = { sql: Queryable; hostId: string };

/** Says what is wanted of a host; what runs there runs on. Wanting it again changes nothing. */
export async function changeHostAdminState({
  sql,
  hostId,
  adminState,
}: Target & { adminState: 'active' | 'cordoned' }): Promise<HostDetailsRow> {
  await updateHostAdminState(sql, { hostId, adminState });
  return found(await readHost(sql, hostId));
}

/** Takes the host as it is now for what it should be. Accepting the same again changes nothing. */
export async function acceptHost({ sql, hostId }: Target): Promise<HostDetailsRow> {
  const accepted = await updateAcceptedFacts(sql, hostId);
  const host = found(await readHost(sql, hostId));
  if (!accepted) {
    throw new CloudError(
      'conflict',
      'the host has never reported what it is made of: there is nothing to accept until its agent connects',
    );
  }
  return host;
}

/**
 * The tenants' VMs are theirs to stop: this stops new ones, tells the tenants, and shows what is left.
 * Tenants are told when a drain begins, not when it is asked for again; of a VM that was placed at
 * the same moment the lock makes sure that it is among them.
 */
export async function drainHost({ sql, hostId }: Target): Promise<HostDetailsRow> {
  const host = found(await lockHost(sql, hostId));
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
        'the host of this VM is to be taken out of service: stop or delete the VM when it suits you',
    })),
  );
  return found(await readHost(sql, hostId));
}

/**
 * An operator's word that the host is dead: its VMs are gone without any proof from it. The name
 * has to be said, and a host that speaks is not dead. Its certificates go too, so that it cannot
 * come back and claim to have what others have by then.
 */
export async function fenceHost({
  sql,
  hostId,
  confirm,
}: Target & { confirm: string }): Promise<HostDetailsRow> {
  const host = found(await lockHost(sql, hostId));
  if (confirm !== host.name) {
    throw badRequest([{ field: 'confirm', reason: 'must be the name of the host' }]);
  }
  if (host.connected) {
    throw new CloudError(
      'conflict',
      'the host is connected: stop it first, or revoke its certificates, and fence it once it is gone',
    );
  }
  await updateHostFenced(sql, hostId);
  return await revokeCertificates({ sql, hostId });
}

/** Its agent is cut off at once and has to be let in anew; what runs there runs on. */
export async function revokeCertificates({ sql, hostId }: Target): Promise<HostDetailsRow> {
  await revokeHostCertificates(sql, hostId);
  return found(await readHost(sql, hostId));
}

/** A placement made at the same moment waits for the lock and then finds no host to refer to. */
export async function deleteHost({ sql, hostId }: Target): Promise<HostDetailsRow> {
  const host = found(await lockHost(sql, hostId));
  if (host.vm_count > 0) {
    throw new CloudError(
      'conflict',
      `${host.vm_count} VMs are placed on this host: drain it and wait until they are gone`,
    );
  }
  const disks = await countDisksOnlyOn(sql, hostId);
  if (disks > 0 && host.state !== 'fenced') {
    throw new CloudError(
      'conflict',
      `${disks} disks of tenants lie on this host alone: have them deleted, or fence the host to give them up`,
    );
  }
  await removeHost(sql, hostId);
  return host;
}

function found(host: HostDetailsRow | undefined): HostDetailsRow {
  if (!host) throw notFound('host');
  return host;
}
