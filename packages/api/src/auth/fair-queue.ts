import { TooManyRequests } from '../base/rate-limit.ts';

/**
 * Runs at most `concurrency` tasks at a time. The sources of waiting tasks are served round-robin, so that a
 * flood from one source delays the others by one task and not by the whole flood. Tasks that are
 * `first` run before all others. Both groups have room for `maxWaiting` tasks; a task beyond that is
 * refused at once, because it would wait longer than its client.
 *
 * With `perSource`, at most so many tasks of one source run at a time, even if others could, so that
 * slow tasks of one source leave room for others. With `maxWaitingOfSource`, a source that has so many
 * waiting tasks is refused before it fills the queue.
 */
export type FairQueue = {
  run<T>(task: { source: string; first: boolean; work: () => Promise<T> }): Promise<T>;
  /** How many tasks run and wait now. */
  load(): { running: number; waiting: number };
};

type Turn = { source: string; begin: () => void };
type Lane = { waiting: number; bySource: Map<string, Turn[]> };

const RETRY_AFTER_S = 5;

/**
 * For hashes of passwords. Each takes about 20 ms of a core and 19 MiB. Two of Node's four threads
 * stay free for files and name resolution, and the last password in a full queue waits about a second.
 */
export const HASH_QUEUE = { concurrency: 2, maxWaiting: 100 };

export type FairQueueOptions = {
  concurrency: number;
  maxWaiting: number;
  perSource?: number;
  maxWaitingOfSource?: number;
};

export function createFairQueue({
  concurrency,
  maxWaiting,
  perSource = concurrency,
  maxWaitingOfSource = maxWaiting,
}: FairQueueOptions): FairQueue {
  let running = 0;
  const runningOf = new Map<string, number>();
  const lanes: Record<'first' | 'others', Lane> = { first: newLane(), others: newLane() };

  const mayStart = (source: string) =>
    running < concurrency && (runningOf.get(source) ?? 0) < perSource;
  const start = ({ source, begin }: Turn) => {
    running += 1;
    runningOf.set(source, (runningOf.get(source) ?? 0) + 1);
    begin();
  };
  const finish = (source: string) => {
    running -= 1;
    const left = (runningOf.get(source) ?? 0) - 1;
    if (left > 0) runningOf.set(source, left);
    else runningOf.delete(source);
    const next = takeTurn(lanes.first, mayStart) ?? takeTurn(lanes.others, mayStart);
    if (next) start(next);
  };

  return {
    load: () => ({ running, waiting: lanes.first.waiting + lanes.others.waiting }),
    async run({ source, first, work }) {
      const lane = first ? lanes.first : lanes.others;
      const free = mayStart(source);
      const isFull =
        lane.waiting >= maxWaiting ||
        (lane.bySource.get(source)?.length ?? 0) >= maxWaitingOfSource;
      if (!free && isFull) throw new TooManyRequests(RETRY_AFTER_S);
      await new Promise<void>((begin) => {
        if (free) start({ source, begin });
        else addTurn(lane, { source, begin });
      });
      try {
        return await work();
      } finally {
        finish(source);
      }
    },
  };
}

function newLane(): Lane {
  return { waiting: 0, bySource: new Map() };
}

function addTurn(lane: Lane, turn: Turn): void {
  lane.waiting += 1;
  const waiting = lane.bySource.get(turn.source);
  if (waiting) waiting.push(turn);
  else lane.bySource.set(turn.source, [turn]);
}

/**
 * Takes the oldest task of the source whose turn it is, and moves the source to the end. A source that
 * runs as many tasks as it may is passed over, and keeps its turn. There are fewer such sources than
 * running tasks.
 */
function takeTurn(lane: Lane, mayStart: (source: string) => boolean): Turn | undefined {
  for (const [source, waiting] of lane.bySource) {
    if (!mayStart(source)) continue;
    const turn = waiting.shift();
    lane.bySource.delete(source);
    if (waiting.length > 0) lane.bySource.set(source, waiting);
    lane.waiting -= 1;
    return turn;
  }
  return undefined;
}
