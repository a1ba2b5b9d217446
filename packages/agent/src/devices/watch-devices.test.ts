import { createLog } from '@gantry/daemon/log';
import { ManualClock } from '@gantry/testkit/clock/manual-clock';
import { beforeEach, expect, it } from 'vitest';
import { watchDevices } from './watch-devices.ts';

const log = createLog({ process: 'test', level: 'silent' });
let clock = new ManualClock();
let changes = 0;
let looks = 0;
let devices: () => Promise<unknown> = async () => [];

beforeEach(() => {
  clock = new ManualClock();
  changes = 0;
  looks = 0;
  devices = async () => [{ aer: 0 }];
});

function watch() {
  return watchDevices({
    ...{ clock, log, everyMs: 60_000, firstLookLimitMs: 50 },
    read: () => {
      looks += 1;
      return devices();
    },
    changed: () => {
      changes += 1;
    },
  });
}

async function minutes(count: number): Promise<void> {
  for (let minute = 0; minute < count; minute += 1) {
    clock.advance(60_000);
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }
}

it('devices that stay as they are are looked at every minute and told of never', async () => {
  await watch();
  await minutes(5);
  expect({ looks, changes }).toEqual({ looks: 6, changes: 0 });
});

it('a change is told once, and so is the way back', async () => {
  await watch();
  devices = async () => [{ aer: 1 }];
  await minutes(3);
  expect(changes).toBe(1);
  devices = async () => [{ aer: 0 }];
  await minutes(3);
  expect(changes).toBe(2);
});

it('a look that fails is no change, and the next one finds what changed meanwhile', async () => {
  await watch();
  devices = () => Promise.reject(new Error('EIO'));
  await minutes(2);
  expect(changes).toBe(0);
  devices = async () => [{ aer: 7 }];
  await minutes(1);
  expect(changes).toBe(1);
});

it('devices that could not be looked at in the beginning are told of when they can be', async () => {
  devices = () => Promise.reject(new Error('EIO'));
  await watch();
  devices = async () => [{ aer: 0 }];
  await minutes(2);
  expect(changes).toBe(1);
});

it('a first look that takes long holds up nobody, and its end is told', async () => {
  let reply: (value: unknown) => void = () => undefined;
  devices = () =>
    new Promise((resolve) => {
      reply = resolve;
    });
  await watch();
  expect(changes).toBe(0);
  reply([{ aer: 0 }]);
  devices = async () => [{ aer: 0 }];
  await minutes(2);
  expect(changes).toBe(1);
});

it('a look that does not end is the only one', async () => {
  await watch();
  devices = () => new Promise(() => undefined);
  await minutes(4);
  expect(looks).toBe(2);
});

it('nothing is looked at or told of once it was stopped, also while a look is under way', async () => {
  const { stop } = await watch();
  let reply: (value: unknown) => void = () => undefined;
  devices = () =>
    new Promise((resolve) => {
      reply = resolve;
    });
  await minutes(1);
  stop();
  reply([]);
  await minutes(2);
  expect({ looks, changes, waiting: clock.waiting }).toEqual({ looks: 2, changes: 0, waiting: 0 });
});
