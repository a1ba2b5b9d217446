import type { Log } from './log.ts';

/**
 * Runs a body periodically, and at once when it is nudged. Runs never overlap. A nudge carries no
 * information: the body reads the current state, so a lost nudge only costs time. If the body
 * throws, the error is logged and the body runs again after the next pause.
 */
export type Loop = { nudge(): void; stop(): Promise<void> };

type LoopOptions = {
  name: string;
  /** The pause between runs. A function is called before each pause. */
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
        log.error({ error, loop: name }, 'loop body failed, will run again');
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
