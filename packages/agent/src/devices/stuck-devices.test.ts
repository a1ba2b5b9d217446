import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { HostFailure } from '../base/failure.ts';
import { writeSysfsTree } from '../base/sysfs-tree.ts';
import type { Device, Devices } from '../host-driver.ts';
import { pciControl } from './pci/pci-control.ts';
import { readDevices } from './read-devices.ts';
import { statesOfDevices } from './states-of-devices.ts';
import { ImitatedServer } from './testing/imitated-server.ts';
import { vfioDevices } from './vfio-devices.ts';

/**
 * The kernel's file for unbinding is a FIFO that is not read, so a write to it really blocks. libuv has
 * four threads, so five cards that block threads would stop the agent.
 */
const VM = '1f0e4a7c-3f0b-4c59-9d6e-0a4f5b1c2d31';
/** Its own PCI domain, because the writers are found among all processes of the machine. */
const DOMAIN = (process.pid % 0x10000).toString(16).padStart(4, '0');
const cards: Device[] = ['41', '42', '43', '44', '45'].map((bus) => ({
  ...{ vmId: VM, kind: 'gpu', address: `${DOMAIN}:${bus}:00.0` },
}));
const [gpu = { vmId: '', kind: 'gpu', address: '' } as Device] = cards;
const drive: Device = { vmId: VM, kind: 'drive', address: '0000:61:00.0' };

let server: ImitatedServer;
let fifo: string;
let devices: Devices;
let isBlocked: boolean;

/** The devices of a restarted agent, whose kernel never finishes an unbind. */
const restart = () => {
  const options = server.options();
  const kernel = pciControl(join(server.root, 'sys'), '/proc');
  devices = vfioDevices({
    ...options,
    control: {
      ...options.control,
      unfinishedWrite: kernel.unfinishedWrite,
      write: (write) =>
        isBlocked && write.path.endsWith('driver/unbind')
          ? kernel.write({ ...write, timeoutMs: 100 })
          : options.control.write(write),
    },
  });
};

beforeEach(async () => {
  isBlocked = true;
  server = await ImitatedServer.make();
  for (const [index, { address }] of cards.entries()) {
    await server.add(address, { deviceClass: '030200', driver: 'nouveau', group: index });
  }
  await server.addDrive(drive.address, { serial: 'S1', bytes: 1024 * 1024, group: 9 });
  await writeSysfsTree(server.root, {
    [`proc/driver/nvidia/gpus/${gpu.address}/information`]: 'Model: A40\nDevice Minor: \t 3',
  });
  await server.open(join(server.root, 'dev/nvidia3'), 'nvidia-persiste');
  fifo = join(server.root, 'sys/bus/pci/drivers/nouveau/unbind');
  await promisify(execFile)('mkfifo', [fifo]);
  restart();
});
afterEach(async () => {
  const reader = await open(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
  await vi.waitFor(async () => expect(await writersOf(cards)).toEqual([]), 10_000);
  await reader.close();
  await server.remove();
});

/** Returns the addresses of these devices to which a process of this machine writes. */
async function writersOf(of: readonly Device[]): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const environments = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')),
  );
  return of.flatMap(({ address }) =>
    environments
      .filter((text) => text.split('\0').includes(`GANTRY_WRITES_TO=${address.slice(0, -2)}`))
      .map(() => address),
  );
}

const stuck = { code: 'device_stuck', message: expect.stringContaining('has not finished') };

it('a write that does not return fails its device, names the process, and leaves the others alone', async () => {
  const failures = cards.map((card) => expect(devices.bind(card, [])).rejects.toMatchObject(stuck));
  await Promise.all(failures);
  await devices.bind(drive, []);
  expect(await server.driverOf(drive.address)).toBe('vfio-pci');
  expect(await devices.release(drive)).toMatchObject({ method: 'format_ses1', failure: null });
  expect(await devices.stuckReason?.(gpu.address)).toBe(
    `${gpu.address} is stuck: the kernel has not finished bus/pci/devices/${gpu.address}/driver/unbind, ` +
      'and it is open in nvidia-persiste (4711)',
  );
});

it('a stuck device gets no second write, not even from a restarted agent', async () => {
  await expect(devices.bind(gpu, [])).rejects.toMatchObject(stuck);
  await expect(devices.bind(gpu, [])).rejects.toMatchObject(stuck);
  await expect(devices.release(gpu)).rejects.toMatchObject(stuck);
  restart();
  await expect(devices.release(gpu)).rejects.toMatchObject(stuck);
  expect(await writersOf([gpu])).toEqual([gpu.address]);
});

it('the inventory says that a device is stuck, until the write returns; then the device works', async () => {
  const stuckInInventory = async () => {
    const { kinds } = server.options();
    const sysfsRoot = join(server.root, 'sys');
    const states = statesOfDevices(devices);
    const found = await readDevices({ sysfsRoot, kinds, ...states, warn: () => undefined });
    return found.filter(({ attributes }) => attributes['stuck']).map(({ address }) => address);
  };
  await expect(devices.bind(gpu, [])).rejects.toMatchObject(stuck);
  expect(await stuckInInventory()).toEqual([gpu.address]);
  await server.close();
  expect(await readFile(fifo, 'utf8')).toBe(gpu.address);
  await vi.waitFor(async () => expect(await stuckInInventory()).toEqual([]), 10_000);
  isBlocked = false;
  await devices.bind(gpu, []);
  expect(await server.driverOf(gpu.address)).toBe('vfio-pci');
  expect(await devices.release(gpu)).toMatchObject({ method: 'flr', failure: null });
});

it('a reset that does not return is no failed cleaning: the device is released once it returns', async () => {
  isBlocked = false;
  await server.close();
  await devices.bind(gpu, []);
  server.reactions.reset = () => {
    throw new HostFailure('device_stuck', 'the kernel has not finished reset');
  };
  await expect(devices.release(gpu)).rejects.toMatchObject({ code: 'device_stuck' });
  expect(await devices.list()).toEqual([gpu]);
  server.reactions = {};
  expect(await devices.release(gpu)).toMatchObject({ method: 'flr', failure: null });
});
