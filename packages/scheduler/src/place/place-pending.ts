/**
 * Places the pending VMs of one location.
 *
 * 1. Reads the oldest unplaced VMs, then the hosts that changed since the last run. The VMs are read
 *    first, so that capacity that was free before a VM was requested is visible and the VM does not
 *    fail for lack of it.
 * 2. Chooses hosts and devices for all of them in memory.
 * 3. Commits the choices in up to four concurrent transactions. Each transaction has its own hosts, so
 *    they do not contend with each other.
 *
 * If a batch conflicts with another writer, the whole batch is rolled back, decided again from fresh
 * data and committed alone. If it conflicts again, its VMs are committed one by one, so that one VM
 * cannot hold up the others. VMs that conflict even then wait for the next run. VMs that no host has
 * room for fail last.
 *
 * Crash safety: a batch is either committed completely or not at all; the next run picks up the rest.
 */
import { allSettledOrThrow } from '@gantry/daemon/all-settled-or-throw';
import type { Sql } from '@gantry/db/connect';
import type { Lease } from '@gantry/db/queries/placement/leases';
import {
  commitFailures,
  commitPlacements,
  describeVms,
  type FailedPlacement,
  listUnplacedVms,
  type UnplacedVm,
} from '@gantry/db/queries/placement/placements';
import { groupBy } from '@gantry/model/group-by';
import type { AddressAllocator } from './address-allocator.ts';
import { type Decided, decide, neededAddresses } from './decide.ts';
import type { HostCache } from './host-cache.ts';

export type Placer = { sql: Sql; lease: Lease; hostCache: HostCache; addresses: AddressAllocator };

export type PlacementRun = {
  /** False if another scheduler holds the lease now. */
  leaseHeld: boolean;
  /** Whether hosts or VMs changed since the previous run. */
  changed: boolean;
  /** More VMs may wait. */
  more: boolean;
  placed: number;
  failed: number;
  /** The hosts that got VMs. */
  hostIds: string[];
};

/** Limits a run to a few tenths of a second. */
const RUN_VMS = 1_600;
/** The number of concurrent transactions. The connection pool is larger. */
const BATCHES = 4;
/** A smaller batch would hardly be faster. */
const BATCH_VMS = 200;

export async function placePending(
  placer: Placer,
  { limit = RUN_VMS } = {},
): Promise<PlacementRun> {
  const { sql, lease, hostCache, addresses } = placer;
  const listed = await listUnplacedVms(sql, { location: lease.location, limit });
  const [changed, vms] = await allSettledOrThrow([hostCache.refresh(), describeVms(sql, listed)]);
  const run: PlacementRun = {
    leaseHeld: true,
    changed,
    more: false,
    placed: 0,
    failed: 0,
    hostIds: [],
  };
  if (vms.length === 0) return run;
  run.more = vms.length === limit;
  run.changed = true;
  const lost = await placeAll(placer, vms, run, { together: true });
  if (lost.length > 0) addresses.forget();
  const lostAgain = await placeAll(placer, lost, run, { together: false });
  for (const vm of lostAgain)
    if (run.leaseHeld) await placeAll(placer, [vm], run, { together: false });
  return run;
}

/** Returns the VMs whose batch conflicted: nothing of it is written, and the index is correct. */
async function placeAll(
  placer: Placer,
  vms: UnplacedVm[],
  run: PlacementRun,
  { together }: { together: boolean },
): Promise<UnplacedVm[]> {
  if (vms.length === 0) return [];
  const { hostCache, addresses } = placer;
  const { decided, failures } = decide(vms, {
    index: hostCache.index,
    location: placer.lease.location,
    addresses: await addresses.open(neededAddresses(vms)),
  });
  const batches = splitByHost(decided);
  const ends: BatchEnd[] = [];
  if (together)
    ends.push(...(await allSettledOrThrow(batches.map((one) => commitBatch(placer, one, run)))));
  else for (const one of batches) ends.push(await commitBatch(placer, one, run));
  const lost = batches.flatMap((batch, i) => (ends[i] === 'lost' ? batch : []));
  if (lost.length > 0) {
    await hostCache.refresh();
    await hostCache.reread([...new Set(lost.map(({ placement }) => placement.hostId))]);
  }
  const again = new Set(lost.map(({ placement }) => placement.vmId));
  // A VM that was not placed leaves resources free that a failing VM may need.
  if (
    lost.length > 0 ||
    (!ends.includes('dropped') && (await fail(placer, failures, run)) === 'lost')
  )
    for (const { vmId } of failures) again.add(vmId);
  return run.leaseHeld ? vms.filter(({ id }) => again.has(id)) : [];
}

/** Concurrent transactions must not wait for each other, so each has its own hosts. */
function splitByHost(decided: readonly Decided[]): Decided[][] {
  const most = Math.max(BATCH_VMS, decided.length / BATCHES);
  const batches: Decided[][] = [];
  for (const ofHost of groupBy(decided, ({ placement }) => placement.hostId).values()) {
    const last = batches.at(-1);
    if (last && last.length < most) last.push(...ofHost);
    else batches.push(ofHost);
  }
  return batches;
}

type BatchEnd = 'placed' | 'dropped' | 'lost' | 'lease_lost';

async function commitBatch(placer: Placer, batch: Decided[], run: PlacementRun): Promise<BatchEnd> {
  const { sql, lease, hostCache } = placer;
  const placements = batch.map(({ placement }) => placement);
  const commit = await commitPlacements(sql, { lease, placements });
  run.leaseHeld &&= commit.outcome !== 'lease_lost';
  if (commit.outcome !== 'committed') return commit.outcome;
  const dropped = new Set(commit.dropped);
  for (const { placement, claimed } of batch)
    if (dropped.has(placement.vmId)) hostCache.index.release(claimed);
  hostCache.committed(commit.moves);
  run.placed += batch.length - dropped.size;
  run.hostIds.push(...commit.moves.map(({ hostId }) => hostId));
  return dropped.size > 0 ? 'dropped' : 'placed';
}

async function fail({ sql, lease }: Placer, failures: FailedPlacement[], run: PlacementRun) {
  if (failures.length === 0 || !run.leaseHeld) return;
  const commit = await commitFailures(sql, { lease, failures });
  run.leaseHeld = commit.outcome !== 'lease_lost';
  if (commit.outcome === 'committed') run.failed += commit.failed;
  return commit.outcome;
}
