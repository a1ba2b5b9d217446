import { seededRandom } from '@gantry/placement/testing/random';
import type { MakePlacer, Placed } from './placers.ts';
import type { TraceHost } from './trace.ts';

export type Outcome = {
  /** The share of all GPUs; with departures, the average over time. */
  allocatedPercent: number;
  wholeHosts: number;
  /** By the number of GPUs of the request. */
  asked: Map<number, number>;
  rejected: Map<number, number>;
  split: Map<number, number>;
};

type Replay = { hosts: TraceHost[]; sizes: number[]; make: MakePlacer; seed: number };
type Leaving = { at: number; gpus: number; placed: Placed };

const DEMAND = 1.3;
/** In mean lifetimes of a VM. The fleet starts empty and is in balance after a few lifetimes. */
const WARM_UP = 4;
const MEASURED = 4;

/** Draws requests from the trace until they need 130 % of the GPUs. No VM leaves. */
export function fillUp({ hosts, sizes, make, seed }: Replay): Outcome {
  const total = gpusOf(hosts);
  const draw = seededRandom(seed);
  const placer = make(hosts, sizes, seededRandom(seed + 1_000));
  const outcome = newOutcome();
  let allocated = 0;
  for (let asked = 0; asked < total * DEMAND; ) {
    const gpus = sizes[Math.floor(draw() * sizes.length)] ?? 1;
    asked += gpus;
    const placed = placer.place(gpus);
    tally(outcome, gpus, placed);
    if (placed) allocated += gpus;
  }
  outcome.allocatedPercent = (100 * allocated) / total;
  outcome.wholeHosts = placer.whole();
  return outcome;
}

/** VMs arrive at random (Poisson) and stay for a random time (exponential, mean 1). */
export function comeAndGo({ hosts, sizes, make, seed, load }: Replay & { load: number }): Outcome {
  const total = gpusOf(hosts);
  const draw = seededRandom(seed);
  const placer = make(hosts, sizes, seededRandom(seed + 1_000));
  const perRequest = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
  const arrivalsPerLife = (load * total) / perRequest;
  const outcome = newOutcome();
  const leaving: Leaving[] = [];
  let [now, allocated, area, wholeArea] = [0, 0, 0, 0];
  while (now < WARM_UP + MEASURED) {
    const before = now;
    now += exponential(draw) / arrivalsPerLife;
    const gpus = sizes[Math.floor(draw() * sizes.length)] ?? 1;
    const life = exponential(draw);
    const measured = now > WARM_UP;
    if (measured) area += allocated * (now - before);
    if (measured) wholeArea += placer.whole() * (now - before);
    for (let next = leaving[0]; next && next.at <= now; next = leaving[0]) {
      pop(leaving);
      next.placed.release();
      allocated -= next.gpus;
    }
    const placed = placer.place(gpus);
    if (measured) tally(outcome, gpus, placed);
    if (!placed) continue;
    allocated += gpus;
    push(leaving, { at: now + life, gpus, placed });
  }
  outcome.allocatedPercent = (100 * area) / MEASURED / total;
  outcome.wholeHosts = wholeArea / MEASURED;
  return outcome;
}

function gpusOf(hosts: TraceHost[]): number {
  return hosts.flat().reduce((sum, gpus) => sum + gpus, 0);
}

function newOutcome(): Outcome {
  const counts = { asked: new Map(), rejected: new Map(), split: new Map() };
  return { allocatedPercent: 0, wholeHosts: 0, ...counts };
}

function tally({ asked, rejected, split }: Outcome, gpus: number, placed: Placed | null): void {
  asked.set(gpus, (asked.get(gpus) ?? 0) + 1);
  if (!placed) rejected.set(gpus, (rejected.get(gpus) ?? 0) + 1);
  if (placed?.split) split.set(gpus, (split.get(gpus) ?? 0) + 1);
}

function exponential(draw: () => number): number {
  return -Math.log(1 - draw());
}

/** A binary heap, the earliest first. */
function push(heap: Leaving[], entry: Leaving): void {
  let at = heap.push(entry) - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = heap[parent];
    if (!above || above.at <= entry.at) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = entry;
}

function pop(heap: Leaving[]): void {
  const last = heap.pop();
  if (!last || heap.length === 0) return;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    const right = heap[child + 1];
    if (right && right.at < (heap[child]?.at ?? 0)) child += 1;
    const below = heap[child];
    if (!below || below.at >= last.at) break;
    heap[at] = below;
    at = child;
  }
  heap[at] = last;
}
