import { FILTERS, type Placement, type PlacementHost, type PlacementRequest } from './host.ts';
import type { HostIndex } from './host-index.ts';
import { type FittedHost, placementOn } from './placement-on.ts';
import type { Policy } from './policy.ts';
import { type Pool, rankingFor } from './pool.ts';

/** One filter, or policy, and how many hosts were left after it. */
export type FilterCount = { filter: string; left: number };
/** From the first filter to the one that left none. */
export type NoHost = { reasons: FilterCount[] };

/** Where the request goes now, or why nowhere. Changes nothing: the caller claims. */
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

/** The filters from the first to the one that left no host. */
export function whyNoHost(
  index: HostIndex,
  request: PlacementRequest,
  policies: readonly Policy[] = [],
): FilterCount[] {
  const left = countFilters(index, request, policies);
  return left.slice(0, left.findIndex((count) => count.left === 0) + 1);
}

/** What `chooseHost` would say now, without the placement. */
export function isAvailable(
  index: HostIndex,
  request: PlacementRequest,
  policies: readonly Policy[] = [],
): boolean {
  const pool = index.pool(request.location, request.gpuModel);
  return pool !== null && choose(pool, request, policies) !== null;
}

function choose(
  pool: Pool,
  request: PlacementRequest,
  policies: readonly Policy[],
): FittedHost | null {
  const penalised = policies.some(({ penalty }) => penalty);
  let best: FittedHost | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const fit of rankingFor(pool, request).ranked) {
    const { members } = fit.hostClass;
    for (let i = members.length - 1; i >= 0; i -= 1) {
      const member = members[i];
      if (!member || !allowed(policies, member.state.host, request)) continue;
      const { state, views } = member;
      const fitted = { state, view: views.at(state.freeMask), fit };
      if (!penalised) return fitted;
      // Classes come in the order of their score, so that the first of equals is the best packed.
      const penalty = penaltyOf(policies, state.host, request);
      if (penalty < least) {
        best = fitted;
        least = penalty;
      }
    }
  }
  return best;
}

function allowed(
  policies: readonly Policy[],
  host: PlacementHost,
  request: PlacementRequest,
): boolean {
  return policies.length === 0 || policies.every(({ allows }) => !allows || allows(host, request));
}

function penaltyOf(
  policies: readonly Policy[],
  host: PlacementHost,
  request: PlacementRequest,
): number {
  return policies.reduce((sum, { penalty }) => sum + (penalty?.(host, request) ?? 0), 0);
}

/** How many hosts each filter, and then each policy, leaves. */
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
  let hosts = (ranking?.ranked ?? []).flatMap(({ hostClass }) =>
    policies.length > 0 ? hostClass.members.map(({ state }) => state.host) : [],
  );
  for (const { name, allows } of policies) {
    if (!allows) continue;
    hosts = hosts.filter((host) => allows(host, request));
    left.push({ filter: name, left: hosts.length });
  }
  return left;
}
