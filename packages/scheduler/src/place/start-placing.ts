/**
 * Acquires the free leases of locations, renews the held ones, and places VMs in their locations. Any
 * number of schedulers do this. If one dies, another has its locations within the lease's time to live.
 * A scheduler that has fewer leases than others asks them for one after the other, until none has two more.
 * Correctness does not depend on noticing a lost lease: every write checks the lease.
 */
import type { Log } from '@gantry/daemon/log';
import { startLoop } from '@gantry/daemon/loop';
import type { Sql } from '@gantry/db/connect';
import { readOffers } from '@gantry/db/queries/catalogue/availabilities';
import type { Changes } from '@gantry/db/queries/changes';
import {
  acquireLeases,
  handOverLease,
  type Lease,
  releaseLeases,
  renewLeases,
  wantLease,
} from '@gantry/db/queries/placement/leases';
import { countHosts } from '@gantry/db/queries/placement/placement-hosts';
import { type LocationPlacer, type PlacerOptions, startLocationPlacer } from './location-placer.ts';

export type PlacingOptions = {
  sql: Sql;
  /** The pool for leases and for transactions that place VMs. The default is `sql`. */
  writeSql?: Sql;
  log: Log;
  schedulerId: string;
  pollMs?: number;
  /** The time after a scheduler's death within which another acquires its locations. */
  ttlMs?: number;
  renewMs?: number;
  /** While it returns false, leases are released and none is acquired. */
  mayPlace?: () => boolean;
  onPlaced?: PlacerOptions['onPlaced'];
  onBusy?: PlacerOptions['onBusy'];
};

export type Placing = {
  /** The locations whose leases this process holds. */
  locations(): string[];
  leases(): Lease[];
  /** Drops all leases and everything that is cached, because the database has another history. */
  restart(): void;
  /** Places the VMs that wait, and looks at hosts that changed. */
  note(changes: Pick<Changes, 'hosts' | 'unplaced'>): void;
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
/** The types that locations offer are read this often. */
const OFFERS_MS = 3_000;
/**
 * Hosts are counted this often, because a removed host does not appear among the changes. It takes no VMs
 * for a while before it is removed.
 */
const COUNT_MS = 10_000;
/** What is known about a location is kept for this long after its lease was lost. */
const KEEP_MS = 60_000;

type Held = { lease: Lease; placer: LocationPlacer };
type Paused = { placer: LocationPlacer; sinceMs: number };

export function startPlacing({
  sql,
  writeSql = sql,
  log,
  schedulerId,
  pollMs = 100,
  ttlMs = TTL_MS,
  renewMs = Math.min(RENEW_MS, ttlMs / 3),
  mayPlace = () => true,
  onPlaced = () => {},
  onBusy = () => {},
}: PlacingOptions): Placing {
  const held = new Map<string, Held>();
  /** The newest epoch of each location that this process has had. */
  const epochs = new Map<string, number>();
  const paused = new Map<string, Paused>();
  const ending = new Set<Promise<void>>();
  const lookMs = ttlMs / POLLS_PER_TTL;
  const leaseMs = ttlMs - lookMs;
  let renewedAt = performance.now();
  let wishedAt = performance.now();

  const stopPlacer = (placer: LocationPlacer) => {
    const ended = placer.stop().finally(() => ending.delete(ended));
    ending.add(ended);
  };

  const end = (lease: Lease) => {
    const { location, epoch } = lease;
    const mine = held.get(location);
    if (mine?.lease !== lease) return;
    held.delete(location);
    log.warn({ location, epoch }, 'lease lost');
    mine.placer.pause();
    paused.set(location, { placer: mine.placer, sinceMs: performance.now() });
  };

  const begin = (lease: Lease) => {
    const { location, epoch } = lease;
    if (epoch <= (epochs.get(location) ?? 0)) return;
    epochs.set(location, epoch);
    // The lease may be an expired one of this process.
    const old = held.get(location);
    if (old) end(old.lease);
    log.info({ location, epoch }, 'lease acquired');
    const known = paused.get(location)?.placer;
    paused.delete(location);
    known?.resume(lease);
    const placer =
      known ??
      startLocationPlacer(lease, { sql, writeSql, log, pollMs, onPlaced, onBusy, onLost: end });
    held.set(location, { lease, placer });
    offers.nudge();
  };

  const forgetPaused = (keepMs: number) => {
    for (const [location, { placer, sinceMs }] of paused) {
      if (performance.now() < sinceMs + keepMs) continue;
      paused.delete(location);
      stopPlacer(placer);
    }
  };

  const renew = async () => {
    const leases = [...held.values()].map(({ lease }) => lease);
    renewedAt = performance.now();
    if (leases.length === 0) return;
    const renewed = await renewLeases(writeSql, { leases, ttlMs: leaseMs });
    for (const lease of leases) if (!renewed.some((one) => one.lease === lease)) end(lease);
    for (const { lease, isWanted } of renewed) if (isWanted) handOver(lease);
  };

  /** The new holder begins after the last transaction of this one. */
  const handOver = (lease: Lease) => {
    const { location, epoch } = lease;
    const mine = held.get(location);
    if (mine?.lease !== lease) return;
    held.delete(location);
    const ended = mine.placer
      .stop()
      .then(() => handOverLease(writeSql, { lease, ttlMs: leaseMs }))
      .then(() => log.info({ location, epoch }, 'lease handed over'))
      .catch((error: unknown) =>
        log.warn({ error, location }, 'lease not handed over; it will expire'),
      )
      .finally(() => ending.delete(ended));
    ending.add(ended);
  };

  /** Stops placing and releases the leases, so that other schedulers place at once. */
  const giveUp = async () => {
    forgetPaused(0);
    const mine = [...held.values()];
    await Promise.all([...mine.map(({ placer }) => placer.stop()), ...ending]);
    if (mine.length === 0) return;
    const leases = mine.map(({ lease }) => lease);
    await releaseLeases(writeSql, leases).catch((error: unknown) =>
      log.warn({ error }, 'leases not released; they will expire'),
    );
  };

  const offers = startLoop({
    name: 'offers',
    everyMs: OFFERS_MS,
    log,
    body: async () => {
      if (held.size === 0) return;
      for (const { location, types } of await readOffers(sql, [...held.keys()]))
        held.get(location)?.placer.offer(types);
    },
  });

  const counts = startLoop({
    name: 'host counts',
    everyMs: COUNT_MS,
    log,
    body: async () => {
      if (held.size === 0) return;
      const locations = [...held.keys()];
      const counted = await countHosts(sql, locations);
      for (const name of locations) {
        const { hosts = 0 } = counted.find(({ location }) => location === name) ?? {};
        held.get(name)?.placer.noteCount(hosts);
      }
    },
  });

  const loop = startLoop({
    name: 'leases',
    everyMs: lookMs,
    log,
    body: async () => {
      if (!mayPlace()) {
        await giveUp();
        held.clear();
        return;
      }
      if (performance.now() + lookMs / 2 >= renewedAt + renewMs) await renew();
      for (const lease of await acquireLeases(writeSql, { holder: schedulerId, ttlMs: leaseMs }))
        begin(lease);
      if (performance.now() >= wishedAt + ttlMs) {
        wishedAt = performance.now();
        await wantLease(writeSql, schedulerId);
      }
      forgetPaused(KEEP_MS);
    },
  });

  return {
    locations: () => [...held.keys()].sort(),
    leases: () => [...held.values()].map(({ lease }) => lease),
    restart() {
      for (const { lease } of [...held.values()]) end(lease);
      forgetPaused(0);
    },
    note({ hosts, unplaced }) {
      for (const location of unplaced) held.get(location)?.placer.nudge();
      for (const { host_id, location, changed_xid } of hosts)
        held.get(location ?? '')?.placer.noteHost(host_id, changed_xid);
    },
    async stop() {
      await Promise.all([loop.stop(), offers.stop(), counts.stop()]);
      await giveUp();
    },
  };
}
