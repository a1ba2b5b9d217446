import type { Log } from './log.ts';

/**
 * A loop body runs every so often, and at once when nudged; never twice at the same time. A nudge
 * carries nothing: the body reads everything again, so a lost nudge costs time and nothing else.
 * A body that throws is logged and runs again at its next turn.
 */
export type Loop = { nudge(): void; stop(): Promise<void> };

type LoopOptions = {
  name: string;
  /** How long it rests; asked anew after each turn where that depends. */
  everyMs: number | (() => number);
  log: Log;
  body: () => Promise<void>;
};

export function startLoop({ name, everyMs, log, body }: LoopOptions): Loop {
  let stopped = false;
  let nudged = false;
  let wake: () => void = () => {};

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
      } catch (error) {
        log.error({ error, loop: name }, 'loop body failed; it runs again at its next turn');
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
