import type { Clock } from '@gantry/agent/base/clock';
import type { Behaviour } from './behaviour.ts';
import type { DiskStore } from './disk-store.ts';
import type { Faults } from './faults.ts';

/** What the parts of one simulated host share. */
export type HostParts = {
  readonly clock: Clock;
  readonly faults: Faults;
  readonly disks: DiskStore;
  behaviour: Behaviour;
};

/** Zero answers at once: a fleet of instant hosts waits for no timer. */
export async function take(host: HostParts, delayMs: number): Promise<void> {
  if (delayMs > 0) await new Promise<void>((done) => host.clock.after(delayMs, done));
}
