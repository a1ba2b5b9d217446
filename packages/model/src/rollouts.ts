/** The states of a rollout of an agent version. The database checks the same lists. */

/**
 * `running`: hosts are upgraded, wave after wave. `paused`: no further host begins. `cancelling`: no further host
 * begins, and those that have begun finish. `rolling_back`: hosts return to the version that they had.
 */
export const ROLLOUT_STATES = [
  'running',
  'paused',
  'cancelling',
  'cancelled',
  'completed',
  'rolling_back',
  'rolled_back',
] as const;
export type RolloutState = (typeof ROLLOUT_STATES)[number];

/**
 * The state of one host in a rollout. `pending`: its wave has not begun. `updating`: its agent was told to install
 * the version. `done`: it is connected with the version. `failed`: it is not, and counts as a failure. `skipped`: it
 * was not told to change. `rolling_back` to `roll_back_failed`: it was told to return to its earlier version.
 */
export const ROLLOUT_HOST_STATES = [
  'pending',
  'updating',
  'done',
  'failed',
  'skipped',
  'rolling_back',
  'rolled_back',
  'roll_back_failed',
] as const;
export type RolloutHostState = (typeof ROLLOUT_HOST_STATES)[number];

/** A version of the package gantry-agent, as Debian writes it, without an epoch. */
export const AGENT_VERSION_PATTERN = /^[0-9][A-Za-z0-9.+~-]{0,63}$/;
