/** The agent's time. Tests replace it to control time. */
export type Clock = {
  nowMs(): number;
  /** Runs a function once after the delay. Returns a cancel function. */
  after(delayMs: number, run: () => void): () => void;
};

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};
