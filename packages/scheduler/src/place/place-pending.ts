/**
 * One turn of placing in one location: read the oldest VMs that are nowhere, read what changed, decide
 * all of them in memory, write the decisions, many hosts' in one transaction and some of those beside
 * each other. A batch that lost to something is not written at all: what it was made of is read again,
 * and it is decided anew and written by itself, for it may have lost to those beside it. If it is lost
 * again, its VMs are placed one by one, so that one that cannot be placed does not hold up the others.
 * What is lost even then waits for the next turn. Last, those that no host has room for fail.
 * A process that dies anywhere in here leaves either all of a batch or nothing.
 */
import { allSettledOrThrow } from '@gantry/daemon/all-settled-or-throw';
import type { Sql } from '@gantry/db/connect';
import type { Lease } from '@gantry/db/queries/placement/leases';
import {
  commitFailures,
  commitPlacements,
  type FailedPlacement,
} from '@gantry/db/queries/placement/placements';
import {
  describeVms,
  listUnplacedVms,
  type UnplacedVm,
} from '@gantry/db/queries/placement/unplaced-vms';
import { groupBy } from '@gantry/model/group-by';
import type { AddressBook } from './address-book.ts';
import { type Decided, decide, neededAddresses } from './decide.ts';
import type { HostFollower } from './host-follower.ts';

export type Placer = { sql: Sql; lease: Lease; follower: HostFollower; addresses: AddressBook };

export type Turn = {
  /** False: the location is somebody else's by now. */
  leaseHeld: boolean;
  /** Whether anything is different from the turn before. */
  changed: boolean;
  /** There may be more to place. */
  more: boolean;
  placed: number;
  failed: number;
  /** Those that got VMs. */
  hostIds: string[];
};

/** Few enough that a turn takes some tenths of a second. */
const TURN_VMS = 1_600;
/** Transactions beside each other, of which the pool has some to spare. */
const BATCHES = 4;
/** Fewer VMs than this cost one transaction hardly less. */
const BATCH_VMS = 200;

export async function placePending(placer: Placer, { limit = TURN_VMS } = {}): Promise<Turn> {
  const { sql, lease, follower, addresses } = placer;
  // First the VMs: what was free before one was asked for is then seen, and it is not failed for want.
  const listed = await listUnplacedVms(sql, { location: lease.location, limit });
  const [changed, vms] = await allSettledOrThrow([follower.refresh(), describeVms(sql, listed)]);
  const turn: Turn = {
    ...{ leaseHeld: true, changed, more: false, placed: 0, failed: 0, hostIds: [] },
  };
  if (vms.length === 0) return turn;
  turn.more = vms.length === limit;
  turn.changed = true;
  const lost = await placeAll(placer, vms, turn, { together: true });
  if (lost.length > 0) addresses.forget();
  const lostAgain = await placeAll(placer, lost, turn, { together: false });
  for (const vm of lostAgain)
    if (turn.leaseHeld) await placeAll(placer, [vm], turn, { together: false });
  return turn;
}

/** Returns those that were lost: nothing of them is written, and the index is true again. */
async function placeAll(
  placer: Placer,
  vms: UnplacedVm[],
  turn: Turn,
  { together }: { together: boolean },
): Promise<UnplacedVm[]> {
  if (vms.length === 0) return [];
  const { follower, addresses } = placer;
  const { decided, failures } = decide(vms, {
    ...{ index: follower.index, location: placer.lease.location },
    addresses: await addresses.open(neededAddresses(vms)),
  });
  const batches = splitByHost(decided);
  const ends: BatchEnd[] = [];
  if (together)
    ends.push(...(await allSettledOrThrow(batches.map((one) => commitBatch(placer, one, turn)))));
  else for (const one of batches) ends.push(await commitBatch(placer, one, turn));
  const lost = batches.flatMap((batch, i) => (ends[i] === 'lost' ? batch : []));
  if (lost.length > 0) {
    await follower.refresh();
    await follower.reread([...new Set(lost.map(({ placement }) => placement.hostId))]);
  }
  const again = new Set(lost.map(({ placement }) => placement.vmId));
  // What is left free by a VM that was not placed after all may be what a failed one lacked.
  if (
    lost.length > 0 ||
    (!ends.includes('dropped') && (await fail(placer, failures, turn)) === 'lost')
  )
    for (const { vmId } of failures) again.add(vmId);
  return turn.leaseHeld ? vms.filter(({ id }) => again.has(id)) : [];
}

/** Transactions beside each other must not wait for each other: each has its hosts to itself. */
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

async function commitBatch(placer: Placer, batch: Decided[], turn: Turn): Promise<BatchEnd> {
  const { sql, lease, follower } = placer;
  const placements = batch.map(({ placement }) => placement);
  const commit = await commitPlacements(sql, { lease, placements });
  turn.leaseHeld &&= commit.outcome !== 'lease_lost';
  if (commit.outcome !== 'committed') return commit.outcome;
  const dropped = new Set(commit.dropped);
  for (const { placement, claimed } of batch)
    if (dropped.has(placement.vmId)) follower.index.release(claimed);
  follower.committed(commit.moves);
  turn.placed += batch.length - dropped.size;
  turn.hostIds.push(...commit.moves.map(({ hostId }) => hostId));
  return dropped.size > 0 ? 'dropped' : 'placed';
}

async function fail({ sql, lease }: Placer, failures: FailedPlacement[], turn: Turn) {
  if (failures.length === 0 || !turn.leaseHeld) return;
  const commit = await commitFailures(sql, { lease, failures });
  turn.leaseHeld = commit.outcome !== 'lease_lost';
  if (commit.outcome === 'committed') turn.failed += commit.failed;
  return commit.outcome;
}
