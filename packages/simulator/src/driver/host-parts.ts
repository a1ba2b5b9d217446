import type { Clock } from '@gantry/agent/base/clock';
import type { Behaviour } from './behaviour.ts';
import type { DiskStore } from './disk-store.ts';
import type { Faults } from './faults.ts';

/** State that the parts of one simulated host share. */
export type HostParts = {
  readonly clock: Clock;
  readonly faults: Faults;
  readonly disks: DiskStore;
  behaviour: Behaviour;
};

/** Zero returns at once, so that a fleet of instant hosts uses no timers. */
export async function take(host: HostParts, delayMs: number): Promise<void> {
  if (delayMs > 0) await new Promise<void>((done) => host.clock.after(delayMs, done));
}
