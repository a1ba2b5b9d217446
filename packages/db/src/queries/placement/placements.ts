/**
 * Commits the decisions about VMs that need a host, many at a time, all or none. Nothing is written
 * without the lease. The function `place_vms` locks and checks everything that a decision depends on.
 */
import type { Queryable, Sql } from '../../connect.ts';
import { isLostRace } from '../../errors.ts';
import type { NumaShare } from '../../schema/claims.ts';
import { transact } from '../../transact.ts';
import { insertEvents } from '../operations/events.ts';
import { failVm, type OperationFailure } from '../settle/end-operation.ts';
import { type Lease, lockLease } from './leases.ts';

export type NewPlacement = {
  vmId: string;
  /** The generation of the VM when it was decided. */
  generation: string;
  hostId: string;
  deviceIds: readonly string[];
  /** The cores and memory that it gets of each NUMA node. */
  numaShares: readonly NumaShare[];
  /** Private addresses for interfaces that have none. */
  addresses: readonly { interfaceId: string; subnetId: string; address: string }[];
  /** Interfaces that get a public address if the pool has one. */
  publicFor: readonly string[];
};

export type FailedPlacement = { vmId: string; generation: string; failure: OperationFailure };

/** The transaction ids of a changed host before and after the commit. */
export type HostMove = { hostId: string; before: string; after: string };

/** Nothing was written: the decision is outdated, or another scheduler has the lease. */
export type NotCommitted = { outcome: 'lost' } | { outcome: 'lease_lost' };

export type CommitOutcome =
  /** `dropped`: VMs whose desired state has changed, or that another transaction has locked. */
  { outcome: 'committed'; moves: HostMove[]; dropped: string[] } | NotCommitted;

/** What `place_vms` returns; null if the lease is not held. */
type Placed = {
  xid: string;
  moves: { host_id: string; before: string }[];
  dropped: string[];
} | null;

export async function commitPlacements(
  sql: Sql,
  { lease, placements }: { lease: Lease; placements: readonly NewPlacement[] },
): Promise<CommitOutcome> {
  const decided = JSON.stringify(placements.map(toArgument));
  try {
    const [row] = await sql<{ placed: Placed }[]>`
      select place_vms(${lease.location}, ${lease.holder}, ${lease.epoch}, ${decided}::text::jsonb) as placed`;
    if (!row?.placed) return { outcome: 'lease_lost' };
    const { xid, moves, dropped } = row.placed;
    return {
      outcome: 'committed',
      moves: moves.map(({ host_id, before }) => ({ hostId: host_id, before, after: xid })),
      dropped,
    };
  } catch (error) {
    if (isLostRace(error)) return { outcome: 'lost' };
    throw error;
  }
}

/** The members that `place_vms` reads. */
function toArgument(placement: NewPlacement) {
  return {
    vm_id: placement.vmId,
    generation: placement.generation,
    host_id: placement.hostId,
    device_ids: placement.deviceIds,
    numa_shares: placement.numaShares,
    public_for: placement.publicFor,
    addresses: placement.addresses.map(({ interfaceId, subnetId, address }) => ({
      ...{ interface_id: interfaceId, subnet_id: subnetId, address },
    })),
  };
}

/** VMs whose desired state has changed, or that another transaction has locked, do not fail. */
export async function commitFailures(
  sql: Sql,
  { lease, failures }: { lease: Lease; failures: readonly FailedPlacement[] },
): Promise<{ outcome: 'committed'; failed: number } | NotCommitted> {
  try {
    return await transact(sql, async (tx) => {
      if (!(await lockLease(tx, lease))) return { outcome: 'lease_lost' };
      const [row] = await tx<{ ids: string[] }[]>`
        select lock_unplaced_vms(${failures.map(({ vmId }) => vmId)}::uuid[],
          ${failures.map(({ generation }) => generation)}::text[]::bigint[]) as ids`;
      const failed = failures.filter(({ vmId }) => row?.ids.includes(vmId));
      await reportFailedRestarts(tx, failed);
      await Promise.all(failed.map((failure) => failVm(tx, { ...failure, after: 'keep' })));
      return { outcome: 'committed', failed: failed.length };
    });
  } catch (error) {
    if (isLostRace(error)) return { outcome: 'lost' };
    throw error;
  }
}

/** Only a VM that is restarted after its host failed has no operation that tells its tenant of the failure. */
async function reportFailedRestarts(
  sql: Queryable,
  failed: readonly FailedPlacement[],
): Promise<void> {
  const rows = await sql<{ id: string; project_id: string }[]>`
    select v.id, v.project_id from vms v where v.id = any(${failed.map(({ vmId }) => vmId)}::uuid[])
      and not exists (select from operations o where o.resource_id = v.id and o.state = 'IN_PROGRESS')`;
  await insertEvents(
    sql,
    rows.map(({ id, project_id }) => ({
      projectId: project_id,
      resourceType: 'vm',
      resourceId: id,
      type: 'vm_lost',
      message: `the VM could not be started on another host: ${
        failed.find(({ vmId }) => vmId === id)?.failure.message
      }. Use START to try again`,
    })),
  );
}
