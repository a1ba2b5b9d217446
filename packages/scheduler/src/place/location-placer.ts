/**
 * Places VMs in one location while its lease is held. If a run throws, the caches may be wrong: they
 * are dropped and the next run reads everything.
 */
import type { Log } from '@gantry/daemon/log';
import { type Loop, startLoop } from '@gantry/daemon/loop';
import type { Sql } from '@gantry/db/connect';
import { listTakenAddresses } from '@gantry/db/queries/networks/addresses';
import type { Lease } from '@gantry/db/queries/placement/leases';
import { createAddressAllocator } from './address-allocator.ts';
import { writeAvailabilities } from './availabilities.ts';
import { createHostCache } from './host-cache.ts';
import { placePending } from './place-pending.ts';

export type PlacerOptions = {
  sql: Sql;
  log: Log;
  pollMs: number;
  /** Called with the hosts that got VMs, directly after the commit. */
  onPlaced: (hostIds: string[]) => void;
};

/** Availabilities are written at most this often. */
const AVAILABILITY_MS = 250;
/** Without changes of hosts, availabilities are computed this often, because types may change. */
const CATALOGUE_MS = 1_000;
/** After a placement more VMs are likely, so the next poll comes sooner by this factor. */
const SPEED_UP = 4;

export function startLocationPlacer(
  lease: Lease,
  { sql, log, pollMs, onPlaced, onLost }: PlacerOptions & { onLost: () => void },
): Loop {
  const createCaches = () => ({
    hostCache: createHostCache({ sql, location: lease.location }),
    addresses: createAddressAllocator((ranges) => listTakenAddresses(sql, ranges)),
    written: new Map<string, boolean>(),
    writtenAt: Number.NEGATIVE_INFINITY,
    hasChanged: false,
  });
  let caches = createCaches();
  let restMs = pollMs;

  const run = async () => {
    const { hostCache, addresses, written } = caches;
    const done = await placePending({ sql, lease, hostCache, addresses });
    restMs = done.placed > 0 ? pollMs / SPEED_UP : pollMs;
    if (done.hostIds.length > 0) onPlaced(done.hostIds);
    if (done.placed + done.failed > 0)
      log.info(
        { location: lease.location, placed: done.placed, failed: done.failed },
        'VMs placed',
      );
    caches.hasChanged ||= done.changed;
    let held = done.leaseHeld;
    if (
      held &&
      performance.now() > caches.writtenAt + (caches.hasChanged ? AVAILABILITY_MS : CATALOGUE_MS)
    ) {
      caches.writtenAt = performance.now();
      caches.hasChanged = false;
      held = await writeAvailabilities({ sql, lease, index: hostCache.index, written });
    }
    if (!held) onLost();
    else if (done.more) loop.nudge();
  };

  const loop = startLoop({
    name: `place ${lease.location}`,
    everyMs: () => restMs,
    log,
    body: async () => {
      try {
        await run();
      } catch (error) {
        caches = createCaches();
        throw error;
      }
    },
  });
  return loop;
}
