import { seededRandom } from '@gantry/placement/testing/random';
import { arrivalsFor, gpusOf, type TracePool } from './pools.ts';
import type { MakePlacer, Placed } from './scanning.ts';

/** GPUs by time for the allocation, requests by size for the rest. */
export type Outcome = {
  gpus: number;
  /** GPUs in use, the average over time. */
  allocated: number;
  asked: Map<number, number>;
  rejected: Map<number, number>;
  split: Map<number, number>;
};

type Leaving = { at: number; gpus: number; placed: Placed };
type Window = { warmUp: number; measured: number };
type Replay = { pool: TracePool; make: MakePlacer; seed: number; load: number; window: Window };

/**
 * VMs arrive at random (Poisson) and stay for a random time (exponential, mean 1). The kinds of
 * requests are drawn as often as the trace has them. The fleet starts empty and is in balance after
 * a few lifetimes; the window is in lifetimes.
 */
export function comeAndGo({ pool, make, seed, load, window }: Replay): Outcome {
  const { warmUp, measured } = window;
  const draw = seededRandom(seed);
  const drawKind = drawFrom(pool.requests.map(({ count }) => count));
  const placer = make(pool);
  const arrivals = arrivalsFor(pool, load);
  const gpus = pool.hosts.reduce((sum, host) => sum + gpusOf(host), 0);
  const outcome: Outcome = { ...newOutcome(), gpus };
  const leaving: Leaving[] = [];
  let [now, inUse, area] = [0, 0, 0];
  const moveTo = (time: number) => {
    area += inUse * Math.max(0, time - Math.max(now, warmUp));
    now = time;
  };
  while (now < warmUp + measured) {
    const arrival = now + exponential(draw) / arrivals;
    const kind = drawKind(draw());
    const life = exponential(draw);
    for (let next = leaving[0]; next && next.at <= arrival; next = leaving[0]) {
      moveTo(next.at);
      pop(leaving);
      next.placed.release();
      inUse -= next.gpus;
    }
    moveTo(arrival);
    const size = pool.requests[kind]?.gpus ?? 0;
    const placed = placer.place(kind);
    if (now > warmUp) tally(outcome, size, placed);
    if (!placed) continue;
    inUse += size;
    push(leaving, { at: now + life, gpus: size, placed });
  }
  return { ...outcome, allocated: area / (now - warmUp) };
}

function newOutcome(): Outcome {
  const counts = { asked: new Map(), rejected: new Map(), split: new Map() };
  return { gpus: 0, allocated: 0, ...counts };
}

/** The sum over the pools of a fleet. */
export function sumOf(outcomes: Outcome[]): Outcome {
  const sum = newOutcome();
  for (const one of outcomes) {
    sum.gpus += one.gpus;
    sum.allocated += one.allocated;
    for (const field of ['asked', 'rejected', 'split'] as const)
      for (const [size, count] of one[field])
        sum[field].set(size, (sum[field].get(size) ?? 0) + count);
  }
  return sum;
}

function tally({ asked, rejected, split }: Outcome, gpus: number, placed: Placed | null): void {
  asked.set(gpus, (asked.get(gpus) ?? 0) + 1);
  if (!placed) rejected.set(gpus, (rejected.get(gpus) ?? 0) + 1);
  if (placed?.split) split.set(gpus, (split.get(gpus) ?? 0) + 1);
}

function drawFrom(counts: number[]): (drawn: number) => number {
  const all = counts.reduce((sum, count) => sum + count, 0);
  let sum = 0;
  const upTo = counts.map((count) => {
    sum += count;
    return sum / all;
  });
  return (drawn) =>
    Math.max(
      0,
      upTo.findIndex((limit) => drawn < limit),
    );
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
