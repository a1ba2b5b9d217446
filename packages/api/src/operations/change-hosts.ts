import type { Queryable } from '@gantry/db/connect';
import {
  type HostRow,
  listPlacedVms,
  lockHost,
  type PlacedVm,
  readHost,
  removeHost,
  updateHostAdminState,
} from '@gantry/db/queries/admin-hosts';
import { CloudError, notFound } from '@gantry/model/errors';
import type { HostAdminState } from '@gantry/model/host-states';

type Target = { sql: Queryable; hostId: string };

/** Says what is wanted of a host; what runs there runs on. Wanting it again changes nothing. */
export async function changeHostAdminState({
  sql,
  hostId,
  adminState,
}: Target & { adminState: HostAdminState }): Promise<HostRow> {
  await updateHostAdminState(sql, { hostId, adminState });
  const host = await readHost(sql, hostId);
  if (!host) throw notFound('host');
  return host;
}

/** The tenants' VMs are theirs to stop: this stops new ones and tells which are left. */
export async function drainHost({
  sql,
  hostId,
}: Target): Promise<{ host: HostRow; remaining: PlacedVm[] }> {
  const host = await changeHostAdminState({ sql, hostId, adminState: 'draining' });
  return { host, remaining: await listPlacedVms(sql, hostId) };
}

/** A placement made at the same moment waits for the lock and then finds no host to refer to. */
export async function deleteHost({ sql, hostId }: Target): Promise<HostRow> {
  const host = await lockHost(sql, hostId);
  if (!host) throw notFound('host');
  if (host.vm_count > 0) {
    throw new CloudError(
      'conflict',
      `${host.vm_count} VMs are placed on this host: drain it and wait until they are gone`,
    );
  }
  await removeHost(sql, hostId);
  return host;
}
