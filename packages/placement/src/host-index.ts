import { claimOnHost, releaseOnHost } from './claim-on-host.ts';
import { isSchedulable, type Placement, type PlacementHost } from './host.ts';
import { type HostState, hostOf, stateOf } from './host-state.ts';
import { gpuViews } from './layout/gpu-view.ts';
import { newLayoutStore } from './layout/layout.ts';
import { joinPool, leavePool, type Membership, newPool, type Pool, reclassify } from './pool.ts';

/**
 * An in-memory index of hosts, arranged so that a decision does not visit every host. The owner of
 * the index adds hosts as it reads them and records every claim and release.
 */
export type HostIndex = {
  /** Adds or replaces the host. Its device states determine what is claimed. */
  put: (host: PlacementHost) => void;
  remove: (hostId: string) => void;
  claim: (placement: Placement) => void;
  /** Does nothing if the host is not in the index. */
  release: (placement: Placement) => void;
  /** Returns the free resources of a schedulable host; null if the host is unknown or not schedulable. */
  state: (hostId: string) => HostState | null;
  /** Returns the host with all claims and releases since it was added. */
  read: (hostId: string) => PlacementHost | null;
  pool: (location: string, gpuModel: string) => Pool | null;
  hostIds: () => Iterable<string>;
  /** Counts all hosts of the location and those that may take new VMs. */
  count: (location: string) => LocationCount;
};

type LocationCount = { known: number; schedulable: number };
type Entry = { state: HostState; memberships: Membership[]; schedulable: boolean };
type Locations = Map<string, LocationCount & { pools: Map<string, Pool> }>;

export function newHostIndex(): HostIndex {
  const layouts = newLayoutStore();
  const entries = new Map<string, Entry>();
  const locations: Locations = new Map();

  const remove = (hostId: string) => {
    const entry = entries.get(hostId);
    if (!entry) return;
    entries.delete(hostId);
    for (const member of entry.memberships) leavePool(member);
    countHost(locations, entry, -1);
  };

  return {
    put: (host) => {
      remove(host.id);
      const state = stateOf(layouts, host);
      const entry: Entry = { state, memberships: [], schedulable: isSchedulable(host) };
      entries.set(host.id, entry);
      countHost(locations, entry, 1);
      if (entry.schedulable) entry.memberships = joinPools(locations, state);
    },
    remove,
    claim: (placement) => {
      const entry = entries.get(placement.hostId);
      if (!entry)
        throw new Error(`BUG: a claim names host ${placement.hostId}, which is not in the index`);
      claimOnHost(entry.state, placement);
      for (const member of entry.memberships) reclassify(member);
    },
    release: (placement) => {
      const entry = entries.get(placement.hostId);
      if (!entry) return;
      releaseOnHost(entry.state, placement);
      for (const member of entry.memberships) reclassify(member);
    },
    state: (hostId) => {
      const entry = entries.get(hostId);
      return entry?.schedulable ? entry.state : null;
    },
    read: (hostId) => {
      const entry = entries.get(hostId);
      return entry ? hostOf(entry.state) : null;
    },
    pool: (location, gpuModel) => locations.get(location)?.pools.get(gpuModel) ?? null,
    hostIds: () => entries.keys(),
    count: (location) => {
      const { known = 0, schedulable = 0 } = locations.get(location) ?? {};
      return { known, schedulable };
    },
  };
}

function countHost(locations: Locations, { state, schedulable }: Entry, sign: 1 | -1): void {
  const name = state.host.location;
  const location = locations.get(name) ?? { known: 0, schedulable: 0, pools: new Map() };
  locations.set(name, location);
  location.known += sign;
  if (schedulable) location.schedulable += sign;
}

function joinPools(locations: Locations, state: HostState): Membership[] {
  const pools = locations.get(state.host.location)?.pools ?? new Map<string, Pool>();
  return [...state.layout.modelMasks.keys()].map((model) => {
    const pool = pools.get(model) ?? newPool();
    pools.set(model, pool);
    return joinPool(pool, state, gpuViews(state.layout, model));
  });
}
