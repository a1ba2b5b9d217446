import { readFile } from 'node:fs/promises';
import type { Device } from '@gantry/agent/host-driver';
import { GUEST_PATTERN } from '@gantry/testkit/lab/image/guest-look';
import { type DeviceOrders, deviceOrders } from '@gantry/testkit/lab/machine/device-orders';
import { runGuest } from '@gantry/testkit/lab/machine/run-guest';
import { runTests } from '@gantry/testkit/lab/machine/run-tests';
import { DEFAULT_SLOTS } from '@gantry/testkit/lab/machine/slots';
import { type Lab, startLab } from '@gantry/testkit/lab/machine/start-lab';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/**
 * The shortest test of a card and a drive on their way to a guest and back, with the agent's code for
 * devices and a real kernel, and of what needs parts of Debian's kernel that other kernels lack. The
 * lab's other tests take longer: `pnpm test:lab`.
 */
const VM = '1f0e4a7c-3f0b-4c59-9d6e-0a4f5b1c2d31';

let lab: Lab;

beforeAll(async () => {
  lab = await startLab({
    hasSource: true,
    slots: DEFAULT_SLOTS.filter(({ id }) => id === 'bochs' || id === 'drive0'),
  });
});
afterAll(() => lab?.stop());

describe('a card and a drive of an emulated GPU server', () => {
  let orders: DeviceOrders;
  let card: Device;
  let drive: Device;

  beforeAll(async () => {
    orders = await deviceOrders(lab);
    const at = (slotId: string) => lab.addresses(slotId)[0] ?? '';
    card = { vmId: VM, kind: 'gpu', address: at('bochs') };
    drive = { vmId: VM, kind: 'drive', address: at('drive0') };
  });

  const driverOf = async ({ address }: Device) =>
    (
      await lab.ask(`basename "$(readlink /sys/bus/pci/devices/${address}/driver || echo none)"`)
    ).trim();
  /** Reads the drive's content from outside the machine. */
  const hasPattern = async () => (await readFile(lab.driveFile('drive0'))).includes(GUEST_PATTERN);

  it('are bound to VFIO', async () => {
    expect(await driverOf(drive)).toBe('nvme');
    for (const device of [card, drive]) {
      expect(await orders.bind(device)).toEqual({ result: null });
      expect(await driverOf(device)).toBe('vfio-pci');
    }
  });

  it('work in a guest that writes to both', async () => {
    const output = await runGuest(lab, [card.address, drive.address]);
    expect(output).toContain('SEEN pci 1234:1111 038000');
    expect(output).toContain('SEEN bochs 0xB0C5 0x0280');
    expect(output).toMatch(/SEEN drive LAB-NVME-0 +2097152/);
    expect(output).toContain('SEEN pattern on /dev/nvme0n1');
    expect(await hasPattern()).toBe(true);
  });

  it('return reset and erased, each with a receipt', async () => {
    expect(await orders.release(card)).toMatchObject({
      result: { serial: '', method: 'bus', failure: null },
    });
    expect(await orders.release(drive)).toMatchObject({
      result: { serial: 'LAB-NVME-0', method: 'format_ses1', failure: null },
    });
    expect(await driverOf(drive)).toBe('nvme');
    expect(await hasPattern()).toBe(false);
    expect(await orders.list()).toEqual([]);
  });
});

it('a server whose kernel has project quotas limits its shared volumes', async () => {
  const results = await runTests(lab, 'quotas');
  const failed = results.filter(({ status }) => status !== 'passed');
  expect(failed.map(({ fullName, failureMessages }) => [fullName, ...failureMessages])).toEqual([]);
  expect(results.length).toBeGreaterThan(20);
});
