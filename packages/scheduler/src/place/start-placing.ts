/**
 * Acquires the free leases of locations, renews the held ones, and places VMs in their locations. Any
 * number of schedulers do this. If one dies, another has its locations within the lease's time to live.
 * Correctness does not depend on noticing a lost lease: every write checks the lease.
 */
import type { Log } from '@gantry/daemon/log';
import { type Loop, startLoop } from '@gantry/daemon/loop';
import type { Sql } from '@gantry/db/connect';
import {
  acquireLeases,
  type Lease,
  releaseLeases,
  renewLeases,
} from '@gantry/db/queries/placement/leases';
import { type PlacerOptions, startLocationPlacer } from './location-placer.ts';

export type PlacingOptions = {
  sql: Sql;
  log: Log;
  schedulerId: string;
  pollMs?: number;
  /** The time after a scheduler's death within which another acquires its locations. */
  ttlMs?: number;
  renewMs?: number;
  onPlaced?: PlacerOptions['onPlaced'];
};

export type Placing = {
  /** The locations whose leases this process holds. */
  locations(): string[];
  /** Runs all placers now instead of at their next poll. */
  nudge(): void;
  stop(): Promise<void>;
};

/** The lease survives two missed renewals. */
const TTL_MS = 3_000;
const RENEW_MS = 1_000;
/**
 * Free leases are polled this many times per time to live. A lease expires one poll interval early, so
 * that the time to live includes the wait for the next poll.
 */
const POLLS_PER_TTL = 6;

type Held = { lease: Lease; loop: Loop };

export function startPlacing({
  sql,
  log,
  schedulerId,
  pollMs = 100,
  ttlMs = TTL_MS,
  renewMs = Math.min(RENEW_MS, ttlMs / 3),
  onPlaced = () => {},
}: PlacingOptions): Placing {
  const held = new Map<string, Held>();
  const ending = new Set<Promise<void>>();
  const lookMs = ttlMs / POLLS_PER_TTL;
  const leaseMs = ttlMs - lookMs;
  let renewedAt = performance.now();

  const end = (location: string, lease: Lease) => {
    const mine = held.get(location);
    if (mine?.lease !== lease) return;
    held.delete(location);
    log.warn({ location, epoch: lease.epoch }, 'lease lost');
    const ended = mine.loop.stop().finally(() => ending.delete(ended));
    ending.add(ended);
  };

  const begin = (lease: Lease) => {
    const { location } = lease;
    // The lease may be an expired one of this process: drop what was cached under it.
    const old = held.get(location);
    if (old) end(location, old.lease);
    log.info({ location, epoch: lease.epoch }, 'lease acquired');
    const onLost = () => end(location, lease);
    const loop = startLocationPlacer(lease, { sql, log, pollMs, onPlaced, onLost });
    held.set(location, { lease, loop });
  };

  const renew = async () => {
    const leases = [...held.values()].map(({ lease }) => lease);
    renewedAt = performance.now();
    if (leases.length === 0) return;
    const renewed = new Set(await renewLeases(sql, { leases, ttlMs: leaseMs }));
    for (const lease of leases) if (!renewed.has(lease)) end(lease.location, lease);
  };

  const loop = startLoop({
    name: 'leases',
    everyMs: lookMs,
    log,
    body: async () => {
      if (performance.now() + lookMs / 2 >= renewedAt + renewMs) await renew();
      for (const lease of await acquireLeases(sql, { holder: schedulerId, ttlMs: leaseMs }))
        begin(lease);
    },
  });

  return {
    locations: () => [...held.keys()].sort(),
    nudge() {
      for (const placer of held.values()) placer.loop.nudge();
    },
    async stop() {
      await loop.stop();
      const mine = [...held.values()];
      await Promise.all([...mine.map((placer) => placer.loop.stop()), ...ending]);
      if (mine.length === 0) return;
      const leases = mine.map(({ lease }) => lease);
      await releaseLeases(sql, leases).catch((error: unknown) =>
        log.warn({ error }, 'leases not released; they will expire'),
      );
    },
  };
}
