import type { Log } from './log.ts';

/**
 * Runs a body periodically, and at once when it is nudged. Runs never overlap. A nudge carries no
 * information: the body reads the current state, so a lost nudge only costs time. If the body
 * throws, the body runs again after the next pause. The first of several errors in a row is logged
 * and then one every few seconds, because a loop may fail ten times a second during an outage.
 */
export type Loop = { nudge(): void; stop(): Promise<void> };

export type LoopOptions = {
  name: string;
  /** The pause between runs. A function is called before each pause. */
  everyMs: number | (() => number);
  log: Log;
  body: () => Promise<void>;
};

const LOG_AGAIN_MS = 5_000;

export function startLoop({ name, everyMs, log, body }: LoopOptions): Loop {
  let stopped = false;
  let nudged = false;
  let wake: () => void = () => {};
  let failures = 0;
  let loggedAt = 0;

  const fail = (error: unknown) => {
    failures += 1;
    if (failures > 1 && performance.now() < loggedAt + LOG_AGAIN_MS) return;
    loggedAt = performance.now();
    log.error({ error, loop: name, failures }, 'loop body failed, will run again');
  };

  const rest = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, typeof everyMs === 'number' ? everyMs : everyMs());
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const run = async () => {
    while (!stopped) {
      nudged = false;
      try {
        await body();
        failures = 0;
      } catch (error) {
        fail(error);
      }
      if (!stopped && !nudged) await rest();
    }
  };
  const running = run();

  return {
    nudge() {
      nudged = true;
      wake();
    },
    async stop() {
      stopped = true;
      wake();
      await running;
    },
  };
}
