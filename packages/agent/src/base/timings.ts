/** How long the agent waits for various things. */
export type Timings = {
  /** Before the second and the third attempt of a part: long enough for a device to settle. */
  retryMs: readonly number[];
  /**
   * After the last attempt: a host rarely recovers by itself, and each attempt may block a device.
   */
  failedMs: number;
  /**
   * How long a guest may take to shut down: the 90 s promised to its shutdown script, plus a
   * margin.
   */
  shutdownMs: number;
  /** Changes within this time share one report. */
  reportMs: number;
  /** Between two tails of the same VM's serial log. */
  serialLogMs: number;
  /** Between two device scans: a device that fails stops receiving VMs within this time. */
  devicesMs: number;
};

export const DEFAULT_TIMINGS: Timings = {
  retryMs: [200, 1_000],
  failedMs: 60_000,
  shutdownMs: 95_000,
  reportMs: 20,
  serialLogMs: 2_000,
  devicesMs: 60_000,
};
