import type { Queryable } from '../../connect.ts';
import { revokeHostCertificates, updateHostFenced } from './admin-hosts.ts';

/** Hosts without a connection, and whether the policy of the installation may fence them. */

export type LostHost = {
  id: string;
  location: string;
  /** It has been lost for as long as the policy demands. */
  due: boolean;
  /** A VM of it restarts elsewhere, and no disk of a tenant is stored only there. */
  evacuable: boolean;
};

/** A host that operators have taken out of service may be switched off on purpose. */
const isLost = (sql: Queryable) =>
  sql`h.scheduler_id is null and h.stream_epoch > 0 and h.state <> 'fenced' and h.admin_state = 'active'`;

const isDue = (
  sql: Queryable,
  afterMs: number,
) => sql`h.state = 'unreachable' and h.fenced_at is null
  and coalesce(h.last_seen_at, h.created_at) < now() - ${afterMs} * interval '1 millisecond'`;

const isEvacuable = (sql: Queryable) => sql`
  not exists (select from disks d where coalesce(d.host_id, d.home_id) = h.id and d.pool_id is null
    and not h.shared_storage)
  and exists (select from placements p join vms v on v.id = p.vm_id
    where p.host_id = h.id and v.on_host_failure = 'restart' and v.desired_state = 'running'
      and not exists (select from disk_attachments a join disks d on d.id = a.disk_id
        where a.vm_id = v.id and d.pool_id is null))`;

/** Lists all hosts of the locations that have no connection, whether or not they are due. */
export async function listLostHosts(
  sql: Queryable,
  { locations, afterMs }: { locations: readonly string[]; afterMs: number },
): Promise<LostHost[]> {
  return await sql<
    LostHost[]
  >`select h.id, h.location, ${isDue(sql, afterMs)} as due, ${isEvacuable(sql)} as evacuable
    from hosts h where h.location = any(${[...locations]}::text[]) and ${isLost(sql)} order by h.location, h.id`;
}

/** Locks the host. Returns false if it is no longer due. */
export async function lockLostHost(
  sql: Queryable,
  { hostId, afterMs }: { hostId: string; afterMs: number },
): Promise<boolean> {
  await sql`select from hosts where id = ${hostId} for no key update`;
  const rows = await sql`select from hosts h
    where h.id = ${hostId} and ${isLost(sql)} and ${isDue(sql, afterMs)} and ${isEvacuable(sql)}`;
  return rows.length > 0;
}

/** As when an operator fences it. */
export async function updateLostHostFenced(sql: Queryable, hostId: string): Promise<void> {
  await updateHostFenced(sql, hostId);
  await revokeHostCertificates(sql, hostId);
}
