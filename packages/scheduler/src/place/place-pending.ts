/**
 * Places the pending VMs of one location.
 *
 * 1. Reads the unplaced VMs whose turn it is, then the hosts that changed since the last run. The
 *    organizations take turns, so that many VMs of one delay a VM of another by at most one run. The VMs
 *    are read first, so that capacity that was free before a VM was requested is visible and the VM does
 *    not fail for lack of it.
 * 2. Chooses hosts and devices for all of them in memory.
 * 3. Commits the choices in up to four concurrent transactions. Each transaction has its own hosts, so
 *    they do not contend with each other.
 *
 * If a batch conflicts with another writer, the whole batch is rolled back, decided again from fresh
 * data and committed alone. If it conflicts again, its VMs are committed one by one, so that one VM
 * cannot hold up the others. VMs that conflict even then wait for the next run, and so do VMs that fit
 * only on hosts that no scheduler can reach at the moment, or that another transaction has locked: it
 * may hang, and must not hold up the location. VMs that no host has room for fail last.
 *
 * Crash safety: a batch is either committed completely or not at all; the next run picks up the rest.
 */
import { allSettledOrThrow } from '@gantry/daemon/all-settled-or-throw';
import type { Sql } from '@gantry/db/connect';
import { type Lease, SILENT_MS } from '@gantry/db/queries/placement/leases';
import {
  listLockedHosts,
  listSilentPlacementHosts,
} from '@gantry/db/queries/placement/placement-hosts';
import {
  commitFailures,
  commitPlacements,
  type FailedPlacement,
} from '@gantry/db/queries/placement/placements';
import { listUnplacedVms, type UnplacedVm } from '@gantry/db/queries/placement/unplaced-vms';
import { groupBy } from '@gantry/model/group-by';
import type { PlacedVm } from '../follow-operations.ts';
import type { AddressAllocator } from './address-allocator.ts';
import { type Decided, decide, neededAddresses } from './decide.ts';
import type { HostCache } from './host-cache.ts';

export type Placer = {
  sql: Sql;
  /** The pool for transactions that write: the location waits for each, so its limit is shorter. */
  writeSql: Sql;
  lease: Lease;
  hostCache: HostCache;
  addresses: AddressAllocator;
  /** Where the next turn begins; undefined at the start. */
  after?: string;
};

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
  placedVms: PlacedVm[];
};

/** Limits a run to a few tenths of a second. */
const RUN_VMS = 1_600;
/** The number of concurrent transactions. The connection pool is larger. */
const BATCHES = 4;
/** A smaller batch would hardly be faster. A larger one could reach the limit of a statement. */
const BATCH_VMS = 200;

export async function placePending(
  placer: Placer,
  { limit = RUN_VMS } = {},
): Promise<PlacementRun> {
  const { sql, lease, hostCache, addresses } = placer;
  const { location } = lease;
  const turn = await listUnplacedVms(sql, {
    ...{ location, limit },
    ...(placer.after === undefined ? {} : { after: placer.after }),
  });
  placer.after = turn.after;
  const { vms } = turn;
  const [changed, silent, locked] = await allSettledOrThrow([
    hostCache.refresh(),
    vms.length > 0 ? listSilentPlacementHosts(sql, { location, schedulerSilentMs: SILENT_MS }) : [],
    listLockedHosts(sql, [...hostCache.locked]),
  ]);
  hostCache.locked = new Set(locked);
  const run: PlacementRun = {
    leaseHeld: true,
    changed,
    more: false,
    placed: 0,
    failed: 0,
    hostIds: [],
    placedVms: [],
  };
  if (vms.length === 0) return { ...run, more: turn.more };
  run.more = turn.more;
  run.changed = true;
  const running = { ...placer, run, avoided: new Set([...silent, ...locked]) };
  const lost = await placeAll(running, vms, { together: true });
  if (lost.length > 0) addresses.forget();
  const lostAgain = await placeAll(running, lost, { together: false });
  for (const vm of lostAgain) if (run.leaseHeld) await placeAll(running, [vm], { together: false });
  // If all of them wait for avoided hosts, an immediate run would find the same.
  run.more &&= run.placed + run.failed > 0;
  return run;
}

/** `avoided`: hosts that no scheduler can send a VM to now, or that another transaction has locked. */
type RunningPlacer = Placer & { run: PlacementRun; avoided: Set<string> };

/** Returns the VMs whose batch conflicted: nothing of it is written, and the index is correct. */
async function placeAll(
  placer: RunningPlacer,
  vms: UnplacedVm[],
  { together }: { together: boolean },
): Promise<UnplacedVm[]> {
  if (vms.length === 0) return [];
  const { hostCache, addresses, run, avoided } = placer;
  const { decided, failures } = decide(vms, {
    index: hostCache.index,
    location: placer.lease.location,
    avoided,
    addresses: await addresses.open(neededAddresses(vms)),
  });
  const batches = splitByHost(decided);
  const ends: BatchEnd[] = [];
  const atOnce = together ? BATCHES : 1;
  for (let i = 0; i < batches.length; i += atOnce) {
    const some = batches.slice(i, i + atOnce);
    ends.push(...(await allSettledOrThrow(some.map((one) => commitBatch(placer, one, run)))));
  }
  const lost = batches.flatMap((batch, i) => (ends[i] === 'lost' ? batch : []));
  if (lost.length > 0) {
    const hostIds = [...new Set(lost.map(({ placement }) => placement.hostId))];
    for (const hostId of await listLockedHosts(placer.sql, hostIds)) {
      hostCache.locked.add(hostId);
      avoided.add(hostId);
    }
    await hostCache.refresh();
    await hostCache.reread(hostIds);
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
  const batches: Decided[][] = [];
  for (const ofHost of groupBy(decided, ({ placement }) => placement.hostId).values()) {
    const last = batches.at(-1);
    if (last && last.length < BATCH_VMS) last.push(...ofHost);
    else batches.push(ofHost);
  }
  return batches;
}

type BatchEnd = 'placed' | 'dropped' | 'lost' | 'lease_lost';

async function commitBatch(placer: Placer, batch: Decided[], run: PlacementRun): Promise<BatchEnd> {
  const { writeSql, lease, hostCache } = placer;
  const placements = batch.map(({ placement }) => placement);
  const commit = await commitPlacements(writeSql, { lease, placements });
  run.leaseHeld &&= commit.outcome !== 'lease_lost';
  if (commit.outcome !== 'committed') return commit.outcome;
  const dropped = new Set(commit.dropped);
  for (const { placement, claimed, operationId } of batch) {
    const { vmId, hostId } = placement;
    if (dropped.has(vmId)) hostCache.index.release(claimed);
    else run.placedVms.push({ vmId, hostId, operationId });
  }
  hostCache.committed(commit.moves);
  run.placed += batch.length - dropped.size;
  run.hostIds.push(...commit.moves.map(({ hostId }) => hostId));
  return dropped.size > 0 ? 'dropped' : 'placed';
}

async function fail({ writeSql, lease }: Placer, failures: FailedPlacement[], run: PlacementRun) {
  if (failures.length === 0 || !run.leaseHeld) return;
  const commit = await commitFailures(writeSql, { lease, failures });
  run.leaseHeld = commit.outcome !== 'lease_lost';
  if (commit.outcome === 'committed') run.failed += commit.failed;
  return commit.outcome;
}
