import { FILTERS, type Placement, type PlacementHost, type PlacementRequest } from './host.ts';
import type { HostIndex } from './host-index.ts';
import { hasDiskSpace, lackingStorage, reachesDisks } from './host-state.ts';
import { type FittedHost, placementOn } from './placement-on.ts';
import { type Pool, rankingFor } from './pool.ts';

/** A condition on the host beyond the filters, for example "this host has the VM's disks". */
export type Policy = {
  /** The filter name in the reasons if no host is left. */
  name: string;
  allows: (host: PlacementHost) => boolean;
};

/** A filter or policy, and the number of hosts that are left after it. */
export type FilterCount = { filter: string; left: number };
/** The filters from the first to the one that left no host. */
export type NoHost = { reasons: FilterCount[] };

/**
 * Returns the best placement for the request, or the reasons why no host can take it. The index is
 * not changed: the caller claims the placement.
 */
export function chooseHost(
  index: HostIndex,
  request: PlacementRequest,
  policies: readonly Policy[] = [],
): Placement | NoHost {
  const pool = index.pool(request.location, request.gpuModel);
  const choice = pool && choose(pool, request, policies);
  if (choice) return placementOn(choice, request);
  return { reasons: whyNoHost(index, request, policies) };
}

/** Returns the filters from the first to the one that left no host. */
export function whyNoHost(
  index: HostIndex,
  request: PlacementRequest,
  policies: readonly Policy[] = [],
): FilterCount[] {
  const left = countFilters(index, request, policies);
  return left.slice(0, left.findIndex((count) => count.left === 0) + 1);
}

function choose(
  pool: Pool,
  request: PlacementRequest,
  policies: readonly Policy[],
): FittedHost | null {
  // Classes are ordered by score, so the first host that the policies allow is the best one.
  for (const fit of rankingFor(pool, request).ranked) {
    const { members } = fit.hostClass;
    for (let i = members.length - 1; i >= 0; i -= 1) {
      const member = members[i];
      if (!member || lackingStorage(member.state, request)) continue;
      if (!isAllowed(policies, member.state.host)) continue;
      const { state, views } = member;
      return { state, view: views.at(state.freeMask), fit };
    }
  }
  return null;
}

function isAllowed(policies: readonly Policy[], host: PlacementHost): boolean {
  return policies.length === 0 || policies.every(({ allows }) => allows(host));
}

/** Counts the hosts that are left after each filter and then after each policy. */
export function countFilters(
  index: HostIndex,
  request: PlacementRequest,
  policies: readonly Policy[] = [],
): FilterCount[] {
  const pool = index.pool(request.location, request.gpuModel);
  const { known, schedulable } = index.count(request.location);
  const left = FILTERS.map((filter) => ({ filter: filter as string, left: pool?.size ?? 0 }));
  if (left[0]) left[0].left = known;
  if (left[1]) left[1].left = schedulable;
  const ranking = pool && rankingFor(pool, request);
  for (const { failed, hostClass } of ranking?.refused ?? []) {
    for (let i = FILTERS.indexOf(failed); i < left.length; i += 1) {
      const count = left[i];
      if (count) count.left -= hostClass.members.length;
    }
  }
  const fitting = (ranking?.ranked ?? []).flatMap(({ hostClass }) => hostClass.members);
  const roomy = fitting.filter(({ state }) => hasDiskSpace(state, request));
  const reaching = roomy.filter(({ state }) => reachesDisks(state, request));
  for (const count of left) {
    if (count.filter === 'disk_space') count.left -= fitting.length - roomy.length;
    if (count.filter === 'storage_network') count.left -= fitting.length - reaching.length;
  }
  let hosts = reaching.map(({ state }) => state.host);
  for (const { name, allows } of policies) {
    hosts = hosts.filter(allows);
    left.push({ filter: name, left: hosts.length });
  }
  return left;
}
