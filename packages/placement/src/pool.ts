/**
 * The schedulable hosts of one location that have GPUs of one model, grouped into classes. All hosts
 * of a class fit every request in the same way. A request is fitted once to each class, not to each
 * host, and the classes that it fits are ordered by score, so a decision takes the first class that
 * has a host.
 *
 * Invariants: a host is in exactly one class of the pool. A ranking that has read the whole log of
 * classes gives the same result as fitting every host.
 */
import type { Amounts } from './amounts.ts';
import { type Fit, type FreeResources, fitRequest } from './fit.ts';
import type { Filter, PlacementRequest } from './host.ts';
import type { HostState } from './host-state.ts';
import type { CompanionView } from './layout/companion-view.ts';
import type { GpuView, GpuViews } from './layout/gpu-view.ts';

type HostClass = {
  free: FreeResources;
  view: GpuView;
  members: Membership[];
};

/** A host in a pool. `position` is its index in the members of its class. */
export type Membership = {
  state: HostState;
  pool: Pool;
  views: GpuViews;
  hostClass: HostClass;
  position: number;
};

type Ranked = Fit & { hostClass: HostClass };
type Refused = { failed: Filter; hostClass: HostClass };
type Ranking = { ranked: Ranked[]; refused: Refused[]; read: number };

export type Pool = {
  size: number;
  /** By free amounts, then by `classKey`. */
  classes: Map<Amounts, Map<number, HostClass>>;
  log: HostClass[];
  occupied: number;
  rankings: Map<string, Ranking>;
  /** The same rankings by request object, because callers reuse one object per VM type. */
  byRequest: WeakMap<PlacementRequest, Ranking>;
};

/** A catalogue has tens of types. With this many rankings, all of them are dropped. */
const MOST_RANKINGS = 256;
/** Empty classes are kept, because most get hosts again, up to about this many. */
const SPARE_CLASSES = 256;

export function newPool(): Pool {
  const rankings = { rankings: new Map(), byRequest: new WeakMap() };
  return { size: 0, classes: new Map(), log: [], occupied: 0, ...rankings };
}

export function joinPool(pool: Pool, state: HostState, views: GpuViews): Membership {
  const hostClass = classFor(pool, state, views);
  const member = { state, pool, views, hostClass, position: -1 };
  enter(member, hostClass);
  pool.size += 1;
  return member;
}

export function leavePool(member: Membership): void {
  exit(member);
  member.pool.size -= 1;
}

/** Must be called after every claim or release on the host. */
export function reclassify(member: Membership): void {
  const hostClass = classFor(member.pool, member.state, member.views);
  if (hostClass === member.hostClass) return;
  exit(member);
  enter(member, hostClass);
}

/** The caller must not change a request object that it has passed here. */
export function rankingFor(pool: Pool, request: PlacementRequest): Ranking {
  let ranking = pool.byRequest.get(request);
  if (!ranking) {
    ranking = rankingOf(pool, request);
    pool.byRequest.set(request, ranking);
  }
  for (; ranking.read < pool.log.length; ranking.read += 1) {
    const hostClass = pool.log[ranking.read];
    if (hostClass) rankClass(ranking, hostClass, request);
  }
  return ranking;
}

function rankingOf(pool: Pool, request: PlacementRequest): Ranking {
  const { gpuCount, cores, memoryMib, networkGbps, maySplit, nested } = request;
  const companions = request.companions.map(({ kind, count, sizeGb }) => [kind, count, sizeGb]);
  const key = `${gpuCount} ${cores} ${memoryMib} ${networkGbps} ${companions}${maySplit ? ' s' : ''}${nested ? ' n' : ''}`;
  const known = pool.rankings.get(key);
  if (known) return known;
  if (pool.rankings.size >= MOST_RANKINGS) forgetRankings(pool);
  const made = { ranked: [], refused: [], read: 0 };
  pool.rankings.set(key, made);
  return made;
}

function forgetRankings(pool: Pool): void {
  pool.rankings.clear();
  pool.byRequest = new WeakMap();
}

function rankClass(ranking: Ranking, hostClass: HostClass, request: PlacementRequest): void {
  const fit = fitRequest(hostClass.free, hostClass.view, request);
  if ('failed' in fit) {
    ranking.refused.push({ failed: fit.failed, hostClass });
    return;
  }
  const { ranked } = ranking;
  let low = 0;
  for (let high = ranked.length; low < high; ) {
    const middle = (low + high) >>> 1;
    if ((ranked[middle]?.score ?? 0) <= fit.score) low = middle + 1;
    else high = middle;
  }
  ranked.splice(low, 0, { ...fit, hostClass });
}

function classFor(pool: Pool, state: HostState, views: GpuViews): HostClass {
  const view = views.at(state.freeMask);
  const { layout, amounts, companions } = state;
  const known = pool.classes.get(amounts)?.get(classKey(view, companions));
  if (known) return known;
  if (pool.log.length > 2 * pool.occupied + SPARE_CLASSES) forgetSpareClasses(pool);
  const made = { free: { layout, amounts, companions }, view, members: [] };
  pool.log.push(made);
  fileClass(pool, made);
  return made;
}

function fileClass({ classes }: Pool, hostClass: HostClass): void {
  const { amounts, companions } = hostClass.free;
  const sameAmounts = classes.get(amounts) ?? new Map<number, HostClass>();
  sameAmounts.set(classKey(hostClass.view, companions), hostClass);
  classes.set(amounts, sameAmounts);
}

function forgetSpareClasses(pool: Pool): void {
  pool.log = pool.log.filter(({ members }) => members.length > 0);
  pool.classes = new Map();
  for (const hostClass of pool.log) fileClass(pool, hostClass);
  forgetRankings(pool);
}

/** Unique among classes with the same amounts, because amounts belong to one layout. */
function classKey(view: GpuView, companions: CompanionView): number {
  return companions.id * 4096 + view.shapeId;
}

function enter(member: Membership, hostClass: HostClass): void {
  if (hostClass.members.length === 0) member.pool.occupied += 1;
  member.hostClass = hostClass;
  member.position = hostClass.members.length;
  hostClass.members.push(member);
}

function exit(member: Membership): void {
  const { members } = member.hostClass;
  const last = members.pop();
  if (last && last !== member) {
    members[member.position] = last;
    last.position = member.position;
  }
  if (members.length === 0) member.pool.occupied -= 1;
}
