import type { Failure } from '../base/failure.ts';

/** An order to replace the agent. Each order is tried once. */
export type UpgradeOrder = { id: string; version: string; timeLimitSeconds: number };

/** The last order that was begun on this host. */
export type UpgradeAttempt = {
  id: string;
  version: string;
  /** Whether the new agent has shown that it works. */
  isConfirmed: boolean;
  /** Why the host does not run the version; null while the order is carried out, and after its success. */
  failure: Failure | null;
};

/**
 * Installs versions of the agent on its host. What it knows outlives the agent, because every order that succeeds
 * restarts it. VMs are not touched.
 */
export type AgentPackages = {
  /** The version of the agent that runs. */
  readonly version: string;
  readAttempt(): Promise<UpgradeAttempt | null>;
  /**
   * Records the order and begins it. If the new agent is not confirmed within the time limit, the earlier version is
   * installed again and the attempt has a failure. An order that cannot be begun has a failure at once.
   */
  begin(order: UpgradeOrder): Promise<void>;
  /** The agent of this attempt works, so the earlier version is not installed again. */
  confirm(attempt: UpgradeAttempt): Promise<void>;
};
