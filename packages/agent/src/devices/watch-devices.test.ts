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

function open() {
  return watchDevices({
    ...{ clock, log, everyMs: 60_000, firstLookLimitMs: 50 },
    read: () => {
      looks += 1;
      return devices();
    },
  });
}

const count = () => {
  changes += 1;
};

async function watch() {
  const watching = await open();
  watching.onChange(count);
  return watching;
}

async function minutes(count: number): Promise<void> {
  for (let minute = 0; minute < count; minute += 1) {
    clock.advance(60_000);
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }
}

it('unchanged devices are read every minute and never reported again', async () => {
  await watch();
  await minutes(5);
  expect({ looks, changes }).toEqual({ looks: 6, changes: 0 });
});

it('a change is reported once, and so is its reversal', async () => {
  await watch();
  devices = async () => [{ aer: 1 }];
  await minutes(3);
  expect(changes).toBe(1);
  devices = async () => [{ aer: 0 }];
  await minutes(3);
  expect(changes).toBe(2);
});

it('a failed read is not a change, and the next read finds the changes since then', async () => {
  await watch();
  devices = () => Promise.reject(new Error('EIO'));
  await minutes(2);
  expect(changes).toBe(0);
  devices = async () => [{ aer: 7 }];
  await minutes(1);
  expect(changes).toBe(1);
});

it('devices that could not be read at the start are reported when they can be read', async () => {
  devices = () => Promise.reject(new Error('EIO'));
  await watch();
  devices = async () => [{ aer: 0 }];
  await minutes(2);
  expect(changes).toBe(1);
});

it('a slow first read does not block the start, and its result is reported', async () => {
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

it('a slow first read that ends before anything listens is reported to the first listener', async () => {
  let reply: (value: unknown) => void = () => undefined;
  devices = () =>
    new Promise((resolve) => {
      reply = resolve;
    });
  const watching = await open();
  reply([{ aer: 0 }]);
  devices = async () => [{ aer: 0 }];
  await minutes(2);
  watching.onChange(count);
  await minutes(2);
  expect(changes).toBe(1);
});

it('no second read starts while one is in progress', async () => {
  await watch();
  devices = () => new Promise(() => undefined);
  await minutes(4);
  expect(looks).toBe(2);
});

it('nothing is read or reported after a stop, also if a read is in progress', async () => {
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
