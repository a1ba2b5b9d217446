import { afterAll, beforeAll, expect, it } from 'vitest';
import { BusyCloud, type Standstill } from './soak/standstills.ts';

/** How long no operation succeeds during a fault. All limits are those of production. */
let cloud: BusyCloud;
/** For a busy machine, on top of each limit and of the stalls that this process has itself. */
const ALLOWANCE_MS = 1_000;

beforeAll(async () => {
  cloud = await BusyCloud.start();
});
afterAll(() => cloud?.stop());

function expectWithinLimit({ fault, standstillMs, limitMs, stallMs }: Standstill): void {
  expect(standstillMs - stallMs, `${fault}, stall ${stallMs} ms`).toBeLessThan(
    limitMs + ALLOWANCE_MS,
  );
}

it('a restart of PostgreSQL stops operations for its outage and one second', async () => {
  expectWithinLimit(await cloud.restartPostgres());
});

it('a suspended scheduler that places VMs loses its hosts in 5 s, and stops operations for at most 6 s', async () => {
  // Longer than the limits. The soak suspends for a minute.
  for (const standstill of await cloud.suspendScheduler({ forMs: 12_000 }))
    expectWithinLimit(standstill);
});
