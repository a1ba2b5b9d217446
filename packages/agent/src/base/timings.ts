/** How long the agent waits for what. */
export type Timings = {
  /** Before the second and the third try of a part: long enough for a device to settle. */
  retryMs: readonly number[];
  /** After the last try: a host rarely heals by itself, and each try may keep a device busy. */
  failedMs: number;
  /** What a guest has to end by itself: the 90 s promised to its shutdown script, and a little. */
  shutdownMs: number;
  /** Changes within it share a report. */
  reportMs: number;
  /** Between two tails of one VM's serial log. */
  serialLogMs: number;
  /** Between two looks at the devices: one that goes bad takes no new VM soon after. */
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
