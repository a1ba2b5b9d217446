/** Time as the agent knows it, so that tests can move it. */
export type Clock = {
  nowMs(): number;
  /** Runs once, later; the answer takes it back. */
  after(delayMs: number, run: () => void): () => void;
};

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};
