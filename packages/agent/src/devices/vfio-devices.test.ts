import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Device, Devices } from '../host-driver.ts';
import { ImitatedServer, zero } from './testing/imitated-server.ts';
import { vfioDevices } from './vfio-devices.ts';

const VM = '1f0e4a7c-3f0b-4c59-9d6e-0a4f5b1c2d31';
const OTHER_VM = '2f0e4a7c-3f0b-4c59-9d6e-0a4f5b1c2d32';
const GPU = '0000:41:00.0';
const SOUND = '0000:41:00.1';
const DRIVE = '0000:61:00.0';
const gpu: Device = { vmId: VM, kind: 'gpu', address: GPU };
const drive: Device = { vmId: VM, kind: 'drive', address: DRIVE };
const DRIVE_BYTES = 4 * 1024 * 1024;

let server: ImitatedServer;
let devices: Devices;

/** What the agent has after a start: nothing but what is on disk. */
const restart = () => {
  devices = vfioDevices(server.options());
};

beforeEach(async () => {
  server = await ImitatedServer.make();
  await server.add(GPU, { deviceClass: '030200', driver: 'nouveau', group: 7 });
  await server.add(SOUND, {
    ...{ deviceClass: '040300', driver: 'snd_hda_intel', group: 7, resetMethods: '' },
  });
  await server.addDrive(DRIVE, { serial: 'S1', bytes: DRIVE_BYTES, group: 9 });
  restart();
});
afterEach(() => server.remove());

const drivers = async () => [
  await server.driverOf(GPU),
  await server.driverOf(SOUND),
  await server.driverOf(DRIVE),
];
const tenantRules = () => readFile(server.tenantDrivesFile, 'utf8').catch(() => 'there are none');

describe('handing over', () => {
  it('takes every function of a card from its driver, and knows after a restart who has it', async () => {
    await devices.bind(gpu, [GPU]);
    await devices.bind(gpu, [GPU]);
    expect(await drivers()).toEqual(['vfio-pci', 'vfio-pci', 'nvme']);
    restart();
    expect(await devices.list()).toEqual([gpu]);
  });

  it('refuses another VM, and changes nothing', async () => {
    await devices.bind(gpu, []);
    const asked = server.asked.length;
    const other = { ...gpu, vmId: OTHER_VM };
    await expect(devices.bind(other, [])).rejects.toMatchObject({ code: 'device_in_use' });
    await expect(devices.release(other)).rejects.toMatchObject({ code: 'device_in_use' });
    expect(server.asked).toHaveLength(asked);
  });

  it('refuses a card whose IOMMU group has something of the host, and names it', async () => {
    await server.add('0000:41:01.0', { deviceClass: '020000', driver: 'e1000e', group: 7 });
    await expect(devices.bind(gpu, [GPU])).rejects.toMatchObject({
      code: 'iommu_group_shared',
      message: expect.stringMatching(/0000:41:01\.0 is in IOMMU group 7 .* driver e1000e/),
    });
    expect(server.asked).toEqual([]);
    expect(await devices.list()).toEqual([]);
  });

  it('leaves bridges, idle devices and what goes to the same VM out of that', async () => {
    await server.add('0000:40:02.0', { deviceClass: '060400', driver: 'e1000e', group: 7 });
    await server.add('0000:41:01.0', { deviceClass: '030200', driver: 'nouveau', group: 7 });
    await server.add('0000:41:02.0', { deviceClass: '0c0330', group: 7 });
    await devices.bind(gpu, [GPU, '0000:41:01.0']);
    expect(await server.driverOf(GPU)).toBe('vfio-pci');
  });

  it.each([
    ['device_missing', { ...gpu, address: '0000:99:00.0' }],
    ['device_unsuitable', { ...drive, kind: 'gpu' as const }],
  ])('fails with %s for %j', async (code, device) => {
    await expect(devices.bind(device, [])).rejects.toMatchObject({ code });
  });

  it('fails with device_lost for one that fell off the bus', async () => {
    await server.loseConfig(GPU);
    await expect(devices.bind(gpu, [])).rejects.toMatchObject({ code: 'device_lost' });
  });

  it('never takes a drive that the host uses, and says for what', async () => {
    await server.mount('259:0', '/srv');
    await expect(devices.bind(drive, [])).rejects.toMatchObject({
      code: 'device_in_use_by_host',
      message: expect.stringContaining('mounted at /srv'),
    });
    expect(await server.driverOf(DRIVE)).toBe('nvme');
  });

  it('never takes a free drive that says it is part of something, but takes back a tenant’s that does', async () => {
    const bytes = await readFile(server.drivePath(DRIVE));
    bytes.write('LABELONE', 512);
    await writeFile(server.drivePath(DRIVE), bytes);
    await expect(devices.bind(drive, [])).rejects.toMatchObject({ code: 'device_in_use_by_host' });
    await zero(server.drivePath(DRIVE));
    await devices.bind(drive, []);
    // The host was started anew: the drive is on its own driver, with what its tenant wrote.
    await server.options().control.write(`bus/pci/devices/${DRIVE}/driver/unbind`, DRIVE);
    await writeFile(server.drivePath(DRIVE), bytes);
    restart();
    await devices.bind(drive, []);
    expect(await server.driverOf(DRIVE)).toBe('vfio-pci');
  });

  it('keeps the host from reading what a tenant writes, for as long as it may be there', async () => {
    await devices.bind(drive, []);
    expect(await tenantRules()).toContain(`KERNELS=="${DRIVE}"`);
    await devices.release(drive);
    expect(await tenantRules()).toBe('there are none');
  });

  it('works in a PCI domain of five digits', async () => {
    const far = '10000:01:00.0';
    await server.add(far, { deviceClass: '030200', driver: 'nouveau', group: 12 });
    await devices.bind({ ...gpu, address: far }, []);
    expect(await server.driverOf(far)).toBe('vfio-pci');
    expect(await server.driverOf(GPU)).toBe('nouveau');
  });
});

describe('taking a card back', () => {
  it('resets it, checks it, and gives each function the driver it had', async () => {
    await devices.bind(gpu, []);
    expect(await devices.release(gpu)).toEqual({ serial: '', method: 'flr', failure: null });
    expect(await drivers()).toEqual(['nouveau', 'snd_hda_intel', 'nvme']);
    expect(await devices.list()).toEqual([]);
    expect(server.asked).toContain(`${GPU}/reset 1`);
  });

  it('names the method that worked, where the first did not', async () => {
    server.reactions.reset = (method) => {
      if (method === 'flr') throw new Error('Inappropriate ioctl for device');
    };
    expect(await devices.release(gpu)).toMatchObject({ method: 'bus', failure: null });
  });

  it('resets the bus of a card of several functions that has no reset of its own', async () => {
    server.reactions.reset = () => {
      throw new Error('Inappropriate ioctl for device');
    };
    await devices.bind(gpu, []);
    expect(await devices.release(gpu)).toMatchObject({ method: 'bus', failure: null });
    expect(server.asked.join('\n')).toMatch(
      new RegExp(`${GPU}/remove 1[^]*config 0000:40:01.0 62 4000\n[^]*config .* 62 0000\n`),
    );
  });

  it('does not reset a bus that has something else on it', async () => {
    server.reactions.reset = () => {
      throw new Error('Inappropriate ioctl for device');
    };
    await server.add('0000:41:01.0', { deviceClass: '020000', driver: 'e1000e', group: 8 });
    expect(await devices.release(gpu)).toMatchObject({
      failure: { code: 'reset_failed', message: expect.stringContaining('0000:41:01.0') },
    });
    expect(await server.driverOf('0000:41:01.0')).toBe('e1000e');
  });

  it.each([
    [
      'reset_failed',
      'no reset works',
      async () => {
        await server.add('0000:42:00.0', { deviceClass: '030200', group: 8, resetMethods: '' });
        return '0000:42:00.0';
      },
    ],
    [
      'device_lost',
      'it does not respond afterwards',
      async () => {
        const lose = server.loseConfig.bind(server);
        server.reactions.reset = () => void lose(GPU);
        return GPU;
      },
    ],
    ['device_missing', 'it is gone', async () => '0000:99:00.0'],
    [
      'device_lost',
      'it fell off the bus',
      async () => {
        await server.loseConfig(GPU);
        return GPU;
      },
    ],
  ])('fails with %s if %s', async (code, _, prepare) => {
    const address = await prepare();
    expect(await devices.release({ ...gpu, address })).toMatchObject({ failure: { code } });
  });

  it('touches nothing while a process has it open', async () => {
    await devices.bind(gpu, []);
    await server.open('/dev/vfio/7');
    const asked = server.asked.length;
    await expect(devices.release(gpu)).rejects.toMatchObject({
      ...{ code: 'device_in_use', message: expect.stringContaining('qemu-system-x86 (4711)') },
    });
    expect(server.asked).toHaveLength(asked);
  });
});

describe('taking a drive back', () => {
  const isErased = async () =>
    (await readFile(server.drivePath(DRIVE))).every((byte) => byte === 0);

  it('erases it by its own command and gives it to the host', async () => {
    await devices.bind(drive, []);
    const cleaning = await devices.release(drive);
    expect(cleaning).toEqual({ serial: 'S1', method: 'format_ses1', failure: null });
    expect(await isErased()).toBe(true);
    expect(await server.driverOf(DRIVE)).toBe('nvme');
  });

  it.each([
    ['sanitize', 'cannot format', { oacs: 0, sanicap: 0x2 }],
    ['overwrite', 'can neither', { oacs: 0, sanicap: 0 }],
  ])('takes %s for a drive that %s', async (method, _, abilities) => {
    server.abilities = abilities;
    server.reactions.sanitize = () => zero(server.drivePath(DRIVE));
    await devices.bind(drive, []);
    expect(await devices.release(drive)).toMatchObject({ method, failure: null });
    expect(await isErased()).toBe(true);
  });

  it('does not believe a drive that says it was erased and was not', async () => {
    server.reactions.format = async () => undefined;
    await devices.bind(drive, []);
    expect(await devices.release(drive)).toMatchObject({ method: 'overwrite', failure: null });
    expect(await isErased()).toBe(true);
  });

  it('does not believe one that erased all but its last block', async () => {
    server.abilities = { oacs: 0x2, sanicap: 0 };
    server.reactions.format = async (path) => {
      const bytes = await readFile(path);
      await writeFile(
        path,
        Buffer.concat([Buffer.alloc(bytes.length - 512), bytes.subarray(-512)]),
      );
    };
    await devices.bind(drive, []);
    expect(await devices.release(drive)).toMatchObject({ method: 'overwrite' });
  });

  it.each([
    ['other firmware', { firmware: '6.66' }, /firmware was 1\.0 and is 6\.66/],
    ['another size', { bytes: DRIVE_BYTES / 2 }, /it had 4194304 bytes/],
  ])('does not take back one with %s, and keeps the host from it', async (_, change, message) => {
    await devices.bind(drive, []);
    await server.changeDrive(DRIVE, change);
    expect(await devices.release(drive)).toMatchObject({
      failure: { code: 'drive_changed', message: expect.stringMatching(message) },
    });
    expect(await devices.list()).toEqual([]);
    expect(await tenantRules()).toContain(DRIVE);
    // An operator may give it to somebody else all the same.
    await devices.bind({ ...drive, vmId: OTHER_VM }, []);
    expect(await devices.list()).toEqual([{ ...drive, vmId: OTHER_VM }]);
  });
});

describe('a drive given as blocks', () => {
  beforeEach(() => {
    server.drivesAsBlocks = true;
    restart();
  });

  it('stays on the host’s driver, is this VM’s alone, and is erased on its return', async () => {
    await devices.bind(drive, []);
    expect(await server.driverOf(DRIVE)).toBe('nvme');
    expect(await tenantRules()).toContain(DRIVE);
    const other = { ...drive, vmId: OTHER_VM };
    await expect(devices.bind(other, [])).rejects.toMatchObject({ code: 'device_in_use' });
    expect(await devices.release(drive)).toMatchObject({ method: 'format_ses1', failure: null });
    expect((await readFile(server.drivePath(DRIVE))).every((byte) => byte === 0)).toBe(true);
  });

  it('is not erased under the process that has it open', async () => {
    await devices.bind(drive, []);
    await server.open(server.drivePath(DRIVE));
    await expect(devices.release(drive)).rejects.toMatchObject({ code: 'device_in_use' });
    expect((await readFile(server.drivePath(DRIVE))).includes('tenant data')).toBe(true);
  });
});

describe('killed before any step', () => {
  /** Each life of the agent dies one request later than the one before. */
  const untilDone = async (work: () => Promise<unknown>): Promise<number> => {
    for (let lives = 0; ; lives += 1) {
      restart();
      server.livesFor = lives;
      const death = new Promise<'died'>((resolve) => {
        server.died = () => resolve('died');
      });
      const isDone = (await Promise.race([work(), death])) !== 'died';
      server.livesFor = -1;
      if (isDone) return lives;
    }
  };

  it('a handing over that is repeated ends as one that was not', async () => {
    expect(await untilDone(() => devices.bind(gpu, []))).toBeGreaterThan(3);
    expect(await drivers()).toEqual(['vfio-pci', 'vfio-pci', 'nvme']);
    expect(await devices.release(gpu)).toMatchObject({ failure: null });
    expect(await drivers()).toEqual(['nouveau', 'snd_hda_intel', 'nvme']);
  });

  it('so does the return of a card that is reset with its bus, wherever it was taken off', async () => {
    await devices.bind(gpu, []);
    server.reactions.reset = () => {
      throw new Error('Inappropriate ioctl for device');
    };
    expect(await untilDone(() => devices.release(gpu))).toBeGreaterThan(8);
    expect(await drivers()).toEqual(['nouveau', 'snd_hda_intel', 'nvme']);
  });

  it('so does the return of a drive, and it is erased', async () => {
    await devices.bind(drive, []);
    server.abilities = { oacs: 0x2, sanicap: 0 };
    expect(await untilDone(() => devices.release(drive))).toBeGreaterThan(3);
    expect((await readFile(server.drivePath(DRIVE))).every((byte) => byte === 0)).toBe(true);
    expect(await devices.list()).toEqual([]);
    expect(await readFile(join(server.root, 'data/devices.json'), 'utf8').catch(() => '')).toBe('');
  });
});
