import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Device, Devices } from '../../../host-driver.ts';
import { AS_DELIVERED } from '../../testing/imitated-nvme.ts';
import { ImitatedServer } from '../../testing/imitated-server.ts';
import { vfioDevices } from '../../vfio-devices.ts';
import { readSetup } from './drive-setup.ts';

const drive: Device = { vmId: 'vm-1', kind: 'drive', address: '0000:61:00.0' };

let server: ImitatedServer;
let devices: Devices;

beforeEach(async () => {
  server = await ImitatedServer.make();
  await server.addDrive(drive.address, { serial: 'S1', bytes: 1024 * 1024, group: 9 });
  devices = vfioDevices(server.options());
});
afterEach(() => server.remove());

describe('a drive whose tenant changed', () => {
  it.each([
    ['its LBA format and metadata', { lbaf: 1, protection: 1 }],
    ['its write cache', { writeCache: 0 }],
  ])('%s returns as it was before, erased', async (_, change) => {
    await devices.bind(drive, []);
    await server.changeDrive(drive.address, change);
    const cleaning = await vfioDevices(server.options()).release(drive);
    expect(cleaning.failure).toBeNull();
    expect(cleaning.properties).toContainEqual({
      ...{ name: 'setup', state: 'verified' },
      detail: expect.stringMatching(
        /format of namespace 1, namespaces, write cache, firmware slot/,
      ),
    });
    expect(server.nvme.setup).toEqual(AS_DELIVERED);
    const content = await readFile(server.drivePath(drive.address));
    expect(content.every((byte) => byte === 0)).toBe(true);
  });

  it.each([
    ['the namespaces', { namespaces: [1, 2] }, 'its namespaces was 1 and is 1 2'],
    ['the firmware slot', { firmwareSlot: 2 }, 'its firmware slot was 1 and is 2'],
  ])('%s is set aside with the reason', async (_, change, reason) => {
    await devices.bind(drive, []);
    await server.changeDrive(drive.address, change);
    expect((await devices.release(drive)).failure).toEqual({
      ...{ code: 'drive_changed' },
      message: `the drive ${drive.address} came back changed: ${reason}`,
    });
  });

  it('its format and does not take it back is set aside with the reason', async () => {
    await devices.bind(drive, []);
    await server.changeDrive(drive.address, { lbaf: 1 });
    server.nvme.keepsSetup = true;
    expect((await devices.release(drive)).failure).toMatchObject({
      ...{ code: 'drive_changed' },
      message: expect.stringContaining('format of namespace 1 was 0 512+0 0 and is 1 4096+8 0'),
    });
  });
});

it('the receipt of a drive that an earlier agent assigned says that its setup is not verified', async () => {
  const { control } = server.options();
  const cleaning = await devices.release(drive);
  expect(cleaning.failure).toBeNull();
  expect(cleaning.properties).toContainEqual(
    expect.objectContaining({ name: 'setup', state: 'not_verified' }),
  );
  expect(server.asked.filter((asked) => asked.startsWith('nvme set-feature'))).toEqual([]);
  expect(await readSetup(control.run, { controller: '/dev/nvme0', namespaces: [] })).toEqual({
    ...{ namespaces: '1', 'write cache': '0x1', 'firmware slot': '1' },
  });
});
