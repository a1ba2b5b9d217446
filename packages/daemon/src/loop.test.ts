import { expect, it, vi } from 'vitest';
import { createLog } from './log.ts';
import { startLoop } from './loop.ts';

const log = createLog({ process: 'test', level: 'silent' });
const never = 1e9;

it('a loop runs at once, and again when it is nudged', async () => {
  const body = vi.fn(async () => {});
  const loop = startLoop({ name: 'test', everyMs: never, log, body });
  await vi.waitFor(() => expect(body).toHaveBeenCalledTimes(1), 30_000);
  loop.nudge();
  await vi.waitFor(() => expect(body).toHaveBeenCalledTimes(2), 30_000);
  await loop.stop();
});

it('runs do not overlap, and nudges during a run lead to one more run', async () => {
  let running = 0;
  let most = 0;
  let runs = 0;
  const gates: (() => void)[] = [];
  const loop = startLoop({
    ...{ name: 'test', everyMs: never, log },
    body: async () => {
      running += 1;
      most = Math.max(most, running);
      runs += 1;
      await new Promise<void>((resolve) => gates.push(resolve));
      running -= 1;
    },
  });
  await vi.waitFor(() => expect(gates).toHaveLength(1), 30_000);
  loop.nudge();
  loop.nudge();
  gates[0]?.();
  await vi.waitFor(() => expect(gates).toHaveLength(2), 30_000);
  gates[1]?.();
  await loop.stop();
  expect({ most, runs }).toEqual({ most: 1, runs: 2 });
});

it('a loop continues after its body throws', async () => {
  let runs = 0;
  const loop = startLoop({
    ...{ name: 'test', everyMs: 1, log },
    body: async () => {
      runs += 1;
      throw new Error('no luck');
    },
  });
  await vi.waitFor(() => expect(runs).toBeGreaterThan(2), 30_000);
  await loop.stop();
});

it('an error that repeats is logged once until the body succeeds again', async () => {
  const error = vi.spyOn(log, 'error');
  const outcomes = ['fail', 'fail', 'fail', 'succeed', 'fail', 'fail'];
  let runs = 0;
  const loop = startLoop({
    ...{ name: 'test', everyMs: 1, log },
    body: async () => {
      runs += 1;
      if (outcomes[runs - 1] === 'fail') throw new Error('no luck');
    },
  });
  await vi.waitFor(() => expect(runs).toBeGreaterThan(outcomes.length), 30_000);
  await loop.stop();
  expect(error).toHaveBeenCalledTimes(2);
  error.mockRestore();
});

it('stop waits for the run in progress', async () => {
  let finish = () => {};
  let done = false;
  const loop = startLoop({
    ...{ name: 'test', everyMs: never, log },
    body: async () => {
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      done = true;
    },
  });
  await vi.waitFor(() => expect(finish).not.toBe(undefined), 30_000);
  const stopped = loop.stop();
  finish();
  await stopped;
  expect(done).toBe(true);
});
