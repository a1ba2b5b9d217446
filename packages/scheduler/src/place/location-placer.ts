/**
 * Places VMs in one location while its lease is held. If a run throws or loses the lease, the caches may
 * be wrong: they are dropped and the next run reads everything. They outlive a pause between two leases,
 * because the next run reads what others have changed meanwhile.
 */
import type { Log } from '@gantry/daemon/log';
import { startLoop } from '@gantry/daemon/loop';
import type { Sql } from '@gantry/db/connect';
import type { Fitting, OfferedType } from '@gantry/db/queries/catalogue/availabilities';
import { listTakenAddresses } from '@gantry/db/queries/networks/addresses';
import type { Lease } from '@gantry/db/queries/placement/leases';
import type { OperationFollower } from '../follow-operations.ts';
import { createAddressAllocator } from './address-allocator.ts';
import { writeAvailabilities } from './availabilities.ts';
import { createHostCache } from './host-cache.ts';
import { type Placer, placePending } from './place-pending.ts';

export type PlacerOptions = {
  sql: Sql;
  /** See `Placer`. */
  writeSql: Sql;
  log: Log;
  pollMs: number;
  follower: Pick<OperationFollower, 'placed'>;
  /** Called with the hosts that got VMs, directly after the commit. */
  onPlaced: (hostIds: string[]) => void;
  /** Called after a run that placed many VMs, because more are likely. */
  onBusy: () => void;
  /** The lease is not held any more. */
  onLost: (lease: Lease) => void;
};

export type LocationPlacer = {
  /** VMs wait for a host. */
  nudge(): void;
  /** The host has changed, perhaps by this placer. */
  noteHost(hostId: string, changedXid: string | null): void;
  /** The types that the location offers now. */
  offer(types: OfferedType[]): void;
  /** The number of hosts that the location has now. */
  noteCount(hosts: number): void;
  /** The lease is lost. */
  pause(): void;
  /** There is a new lease of the location. */
  resume(lease: Lease): void;
  stop(): Promise<void>;
};

/** Availabilities are written at most this often. */
const AVAILABILITY_MS = 250;
/** A run with fewer VMs is not repeated sooner: VMs that are placed together cost less. */
const BUSY_VMS = 5;
/** Every run is requested, or repeats a failed one. */
const IDLE_MS = 60_000;

export function startLocationPlacer(
  first: Lease,
  { sql, writeSql, log, pollMs, follower, onPlaced, onBusy, onLost }: PlacerOptions,
): LocationPlacer {
  const { location } = first;
  /** Null during a pause. */
  let lease: Lease | null = first;
  const createCaches = () => ({
    placer: {
      ...{ sql, writeSql, lease: first },
      hostCache: createHostCache({ sql, location }),
      addresses: createAddressAllocator((ranges) => listTakenAddresses(sql, ranges)),
    } as Placer,
    written: new Map<string, Fitting>(),
    writtenAt: Number.NEGATIVE_INFINITY,
    /** Hosts or types have changed since availabilities were written. */
    hasChanged: true,
  });
  let caches = createCaches();
  let types: OfferedType[] | null = null;
  let isDue = true;

  const place = async (): Promise<boolean> => {
    const startMs = Date.now();
    const done = await placePending(caches.placer);
    follower.placed(done.placedVms, { startMs, endMs: Date.now() });
    if (done.hostIds.length > 0) onPlaced(done.hostIds);
    if (done.placed >= BUSY_VMS) onBusy();
    if (done.placed + done.failed > 0)
      log.info({ location, placed: done.placed, failed: done.failed }, 'VMs placed');
    caches.hasChanged ||= done.changed;
    isDue ||= done.more;
    return done.leaseHeld;
  };

  const announce = async (held: Lease): Promise<boolean> => {
    const { placer, written } = caches;
    if (types === null || !caches.hasChanged) return true;
    if (performance.now() < caches.writtenAt + AVAILABILITY_MS) return true;
    caches.writtenAt = performance.now();
    caches.hasChanged = false;
    const { index } = placer.hostCache;
    return await writeAvailabilities({ sql: writeSql, lease: held, index, types, written });
  };

  const run = async () => {
    const held = lease;
    if (!held) return;
    caches.placer.lease = held;
    let isHeld = true;
    if (isDue) {
      isDue = false;
      isHeld = await place();
      // The index has placements that were not committed.
      if (!isHeld) caches = createCaches();
    }
    isHeld &&= await announce(held);
    if (!isHeld) onLost(held);
    else if (isDue) loop.nudge();
  };

  const pauseMs = () => {
    if (lease === null) return IDLE_MS;
    if (isDue) return pollMs;
    return caches.hasChanged ? AVAILABILITY_MS : IDLE_MS;
  };

  const loop = startLoop({
    name: `place ${location}`,
    everyMs: pauseMs,
    log,
    body: async () => {
      try {
        await run();
      } catch (error) {
        caches = createCaches();
        isDue = true;
        throw error;
      }
    },
  });
  return {
    nudge() {
      isDue = true;
      loop.nudge();
    },
    noteHost(hostId, changedXid) {
      if (!caches.placer.hostCache.isCurrent(hostId, changedXid)) this.nudge();
    },
    offer(offered) {
      if (JSON.stringify(offered) === JSON.stringify(types)) return;
      types = offered;
      caches.hasChanged = true;
      loop.nudge();
    },
    noteCount(hosts) {
      if (caches.placer.hostCache.noteCount(hosts)) this.nudge();
    },
    pause() {
      lease = null;
    },
    resume(next) {
      lease = next;
      // Others may have written and taken what these remember.
      caches.written.clear();
      caches.placer.addresses.forget();
      caches.hasChanged = true;
      this.nudge();
    },
    stop: () => loop.stop(),
  };
}
