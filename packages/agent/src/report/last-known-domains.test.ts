import { ManualClock } from '@gantry/testkit/clock/manual-clock';
import { expect, it } from 'vitest';
import { HostFailure } from '../base/failure.ts';
import type { Domain } from '../host-driver.ts';
import { LastKnownDomains } from './last-known-domains.ts';

const SEEN: Domain = {
  ...{ vmId: 'vm-1', state: 'running', revision: '1', generation: '1' },
  ...{ devices: [], disks: [] },
};

it('the last known domains are used, after a moment, until they can be listed again, with the reason', async () => {
  const clock = new ManualClock();
  let isSilent = true;
  const list = async () => {
    if (isSilent) throw new HostFailure('host_failed', 'no answer');
    return [SEEN];
  };
  let recoveries = 0;
  const lastKnown = new LastKnownDomains({
    ...{ hypervisor: { list }, clock, graceMs: 1_000 },
    recovered: () => {
      recoveries += 1;
    },
  });
  const failure = { code: 'host_failed', message: 'no answer', sinceMs: clock.nowMs() };
  await expect(lastKnown.refresh()).rejects.toThrow('no answer');
  clock.advance(1_000);
  expect(await lastKnown.refresh()).toEqual({ domains: null, failure });
  expect(recoveries).toBe(0);
  isSilent = false;
  expect(await lastKnown.refresh()).toEqual({ domains: [SEEN], failure: null });
  await lastKnown.refresh();
  expect(recoveries).toBe(1);
  isSilent = true;
  clock.advance(1_000);
  const since = { ...failure, sinceMs: clock.nowMs() };
  await expect(lastKnown.refresh()).rejects.toThrow('no answer');
  clock.advance(2_000);
  expect(await lastKnown.refresh()).toEqual({ domains: [SEEN], failure: since });
});
