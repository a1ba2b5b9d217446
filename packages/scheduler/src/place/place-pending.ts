/**
 * One turn of placing in one location: read the oldest VMs that are nowhere, read what changed, decide
 * all of them in memory, write the decisions in one transaction. A batch that lost to something is not
 * written at all: what it was made of is read again and its VMs are placed one by one, so that one
 * that cannot be placed does not hold up the others. What is lost even then waits for the next turn.
 * A process that dies anywhere in here leaves either all of a batch or nothing.
 */
import type { Sql } from '@gantry/db/connect';
import type { Lease } from '@gantry/db/queries/leases';
import { commitDecisions } from '@gantry/db/queries/placements';
import { listUnplacedVms, type UnplacedVm } from '@gantry/db/queries/unplaced-vms';
import type { AddressBook } from './address-book.ts';
import { decide, neededAddresses } from './decide.ts';
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

/** Few enough that a batch takes some tens of milliseconds, many enough that it costs hardly more than one. */
const BATCH_VMS = 200;

export async function placePending(placer: Placer, { limit = BATCH_VMS } = {}): Promise<Turn> {
  const { sql, lease, follower, addresses } = placer;
  // First the VMs: what was free before one was asked for is then seen, and it is not failed for want.
  const vms = await listUnplacedVms(sql, { location: lease.location, limit });
  const turn: Turn = {
    ...{ leaseHeld: true, changed: await follower.refresh(), more: false },
    ...{ placed: 0, failed: 0, hostIds: [] },
  };
  if (vms.length === 0) return turn;
  turn.more = vms.length === limit;
  turn.changed = true;
  if (await placeBatch(placer, vms, turn)) return turn;
  addresses.forget();
  for (const vm of vms) {
    if (!turn.leaseHeld) break;
    await placeBatch(placer, [vm], turn);
  }
  return turn;
}

/** False: the batch was lost, nothing of it is written, and the index is true again. */
async function placeBatch(placer: Placer, vms: UnplacedVm[], turn: Turn): Promise<boolean> {
  const { sql, lease, follower, addresses } = placer;
  const { decided, failures } = decide(vms, {
    ...{ index: follower.index, location: lease.location },
    addresses: await addresses.open(neededAddresses(vms)),
  });
  const placements = decided.map(({ placement }) => placement);
  const commit = await commitDecisions(sql, { lease, placements, failures });
  if (commit.outcome === 'lease_lost') {
    turn.leaseHeld = false;
    return true;
  }
  if (commit.outcome === 'lost') {
    await follower.refresh();
    await follower.reread([...new Set(placements.map(({ hostId }) => hostId))]);
    return false;
  }
  const dropped = new Set(commit.dropped);
  for (const { placement, claimed } of decided)
    if (dropped.has(placement.vmId)) follower.index.release(claimed);
  follower.committed(commit.moves);
  turn.placed += decided.length - dropped.size;
  turn.failed += dropped.size > 0 ? 0 : failures.length;
  turn.hostIds.push(...commit.moves.map(({ hostId }) => hostId));
  return true;
}
