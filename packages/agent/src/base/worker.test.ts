import { expect, it, vi } from 'vitest';
import { Worker } from './worker.ts';

/** A worker whose runs wait until the test ends them. */
function startWorker() {
  const ends: (() => void)[] = [];
  const onIdle = vi.fn();
  const worker = new Worker(() => new Promise<void>((resolve) => ends.push(resolve)), onIdle);
  return { worker, ends, onIdle };
}

it('runs once per nudge, and reports that it is idle', async () => {
  const { worker, ends, onIdle } = startWorker();
  worker.nudge();
  ends[0]?.();
  await vi.waitFor(() => expect(onIdle).toHaveBeenCalledTimes(1), 30_000);
  worker.nudge();
  expect(ends).toHaveLength(2);
});

it('several nudges during a run lead to one more run, which starts after it', async () => {
  const { worker, ends, onIdle } = startWorker();
  worker.nudge();
  worker.nudge();
  worker.nudge();
  expect(ends).toHaveLength(1);
  ends[0]?.();
  await vi.waitFor(() => expect(ends).toHaveLength(2), 30_000);
  ends[1]?.();
  await vi.waitFor(() => expect(onIdle).toHaveBeenCalledTimes(1), 30_000);
  expect(ends).toHaveLength(2);
});

it('stop waits for the run in progress, and no other run follows', async () => {
  const { worker, ends } = startWorker();
  worker.nudge();
  worker.nudge();
  let isStopped = false;
  const stopped = worker.stop().then(() => {
    isStopped = true;
  });
  await new Promise(setImmediate);
  expect(isStopped).toBe(false);
  ends[0]?.();
  await stopped;
  worker.nudge();
  expect(ends).toHaveLength(1);
});
