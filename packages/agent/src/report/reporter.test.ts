import { createLog } from '@gantry/daemon/log';
import type { HostReport } from '@gantry/proto/generated/gantry/v1/HostReport';
import { ManualClock } from '@gantry/testkit/clock/manual-clock';
import { beforeEach, expect, it } from 'vitest';
import { DEFAULT_TIMINGS } from '../base/timings.ts';
import type { HostDriver } from '../host-driver.ts';
import { LastKnownDomains } from './last-known-domains.ts';
import { Reporter } from './reporter.ts';

const log = createLog({ process: 'test', level: 'silent' });
const sent: HostReport[] = [];
let clock = new ManualClock();
let replies: (() => void)[] = [];
beforeEach(() => {
  sent.length = 0;
  replies = [];
  clock = new ManualClock();
});

/** A reporter of a host whose inventory comes when the test lets it. */
function makeReporter(): Reporter {
  const readInventory = () =>
    new Promise((resolve) => replies.push(() => resolve({ sharedStorage: true })));
  const driver = { readInventory, hypervisor: { list: async () => [] } } as unknown as HostDriver;
  return new Reporter({
    host: { driver, clock, timings: DEFAULT_TIMINGS, log },
    domains: new LastKnownDomains({ hypervisor: driver.hypervisor, clock, graceMs: 0 }),
    build: async () => ({ acceptedNumber: clock.nowMs() }),
    send: (report) => sent.push(report) > 0,
  });
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

it('changes before the first stream wait for it', async () => {
  const reporter = makeReporter();
  reporter.changed();
  clock.advance(1_000);
  await turns();
  expect({ sent, waiting: clock.waiting }).toEqual({ sent: [], waiting: 0 });
});

it('changes close to each other share a report', async () => {
  const reporter = makeReporter();
  reporter.attached();
  await turns();
  replies[0]?.();
  await turns();
  expect(sent).toHaveLength(1);
  for (let times = 0; times < 100; times += 1) reporter.changed();
  clock.advance(19);
  await turns();
  expect(sent).toHaveLength(1);
  clock.advance(1);
  await turns();
  expect(sent).toHaveLength(2);
  expect(sent[1]?.inventory).toBeNull();
});

it('endless changes do not delay a report', async () => {
  const reporter = makeReporter();
  reporter.attached();
  await turns();
  replies[0]?.();
  await turns();
  reporter.changed();
  clock.advance(15);
  reporter.changed();
  clock.advance(5);
  await turns();
  expect(sent).toHaveLength(2);
});

it('a stream that starts while a report is built starts with the inventory', async () => {
  const reporter = makeReporter();
  reporter.attached();
  await turns();
  reporter.attached();
  replies[0]?.();
  await turns();
  expect(sent).toEqual([]);
  clock.advance(20);
  await turns();
  replies[1]?.();
  await turns();
  expect(sent).toHaveLength(1);
  expect(sent[0]?.inventory).toEqual({ sharedStorage: true });
});
