import type postgres from 'postgres';
import type { Queryable } from '../../connect.ts';

/** What keeps connected hosts from new VMs. The column `trouble` of hosts combines it. */

/**
 * Locks several hosts and then their spec numbers, which a trigger writes, each in the order of ids. An
 * update alone would lock the numbers in any order.
 */
const lockHosts = (sql: Queryable, condition: postgres.PendingQuery<postgres.Row[]>) => sql`
  with locked as materialized (select id from hosts where ${condition} order by id for no key update),
    numbered as materialized (select host_id from host_revisions where host_id in (select id from locked)
      order by host_id for update)`;
const isLocked = (sql: Queryable) => sql`id in (select host_id from numbered)`;

/** Sets or clears the impairment of hosts whose streams this scheduler holds. */
export async function updateImpairments(
  sql: Queryable,
  { hostIds, impairment }: { hostIds: readonly string[]; impairment: string },
): Promise<void> {
  if (hostIds.length === 0) return;
  const differing = sql`id = any(${[...hostIds]}::uuid[]) and impairment <> ${impairment}`;
  await sql`${lockHosts(sql, differing)} update hosts set impairment = ${impairment} where ${isLocked(sql)}`;
}

/**
 * Counts a VM that the host could not build for a reason of its own. One VM counts once, however often
 * it is started.
 */
export async function recordFailedBuild(
  sql: Queryable,
  { hostId, vmId }: { hostId: string; vmId: string },
): Promise<void> {
  await sql`update hosts set failed_builds = failed_builds + 1, build_failed_at = now(), build_failed_vm_id = ${vmId}
    where id = ${hostId} and build_failed_vm_id is distinct from ${vmId}`;
}

/**
 * Other hosts could not build the VM either, so the VM is the reason, and it counts nowhere: a tenant
 * must not be able to keep new VMs from hosts with a VM that cannot be built. It locks several hosts, so
 * the caller must hold no lock on any.
 */
export async function forgiveFailedBuild(
  sql: Queryable,
  { vmId, hostIds }: { vmId: string; hostIds: readonly string[] },
): Promise<void> {
  const blamed = sql`id = any(${[...hostIds]}::uuid[]) and build_failed_vm_id = ${vmId}`;
  await sql`${lockHosts(sql, blamed)} update hosts
    set failed_builds = greatest(failed_builds - 1, 0), build_failed_vm_id = null where ${isLocked(sql)}`;
}

/** The host has built a VM. */
export async function recordBuild(sql: Queryable, hostId: string): Promise<void> {
  await sql`update hosts set failed_builds = 0, build_failed_vm_id = null where id = ${hostId} and failed_builds > 0`;
}

/** Lets hosts try again some time after the last failed build. Returns how many. */
export async function forgetFailedBuilds(
  sql: Queryable,
  { afterMs }: { afterMs: number },
): Promise<number> {
  const due = sql`failed_builds > 0 and build_failed_at < now() - ${afterMs} * interval '1 millisecond'`;
  const { count } = await sql`${lockHosts(sql, due)} update hosts
    set failed_builds = 0, build_failed_vm_id = null where ${isLocked(sql)}`;
  return count;
}
