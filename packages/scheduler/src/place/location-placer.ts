/**
 * Places in one location for as long as its lease is held. A turn that throws leaves memory in doubt:
 * all of it is thrown away and the next turn reads everything.
 */
import type { Log } from '@gantry/daemon/log';
import { type Loop, startLoop } from '@gantry/daemon/loop';
import type { Sql } from '@gantry/db/connect';
import { listTakenAddresses } from '@gantry/db/queries/networks/addresses';
import type { Lease } from '@gantry/db/queries/placement/leases';
import { openAddressBook } from './address-book.ts';
import { writeAvailabilities } from './availabilities.ts';
import { followHosts } from './host-follower.ts';
import { placePending } from './place-pending.ts';

export type PlacerOptions = {
  sql: Sql;
  log: Log;
  pollMs: number;
  /** Hosts that got VMs, at once after the commit. */
  onPlaced: (hostIds: string[]) => void;
};

/** What is available is shown at most this often, however much comes and goes. */
const SHOWN_MS = 250;
/** The catalogue changes without any host: this often it is looked at all the same. */
const CATALOGUE_MS = 1_000;
/** Where VMs were just asked for there are soon more: it is looked this much sooner. */
const SOONER = 4;

export function startLocationPlacer(
  lease: Lease,
  { sql, log, pollMs, onPlaced, onLost }: PlacerOptions & { onLost: () => void },
): Loop {
  const remember = () => ({
    follower: followHosts({ sql, location: lease.location }),
    addresses: openAddressBook((ranges) => listTakenAddresses(sql, ranges)),
    written: new Map<string, boolean>(),
    shownAt: Number.NEGATIVE_INFINITY,
    hasNews: false,
  });
  let memory = remember();
  let restMs = pollMs;

  const turn = async () => {
    const { follower, addresses, written } = memory;
    const done = await placePending({ sql, lease, follower, addresses });
    restMs = done.placed > 0 ? pollMs / SOONER : pollMs;
    if (done.hostIds.length > 0) onPlaced(done.hostIds);
    if (done.placed + done.failed > 0)
      log.info(
        { location: lease.location, placed: done.placed, failed: done.failed },
        'VMs placed',
      );
    memory.hasNews ||= done.changed;
    let held = done.leaseHeld;
    if (held && performance.now() > memory.shownAt + (memory.hasNews ? SHOWN_MS : CATALOGUE_MS)) {
      memory.shownAt = performance.now();
      memory.hasNews = false;
      held = await writeAvailabilities({ sql, lease, index: follower.index, written });
    }
    if (!held) onLost();
    else if (done.more) loop.nudge();
  };

  const loop = startLoop({
    ...{ name: `place ${lease.location}`, everyMs: () => restMs, log },
    body: async () => {
      try {
        await turn();
      } catch (error) {
        memory = remember();
        throw error;
      }
    },
  });
  return loop;
}
