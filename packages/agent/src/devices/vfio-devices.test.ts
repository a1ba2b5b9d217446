import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Device } from '../host-driver.ts';
import { eraseLimitMs } from './kinds/drive/erase-drive.ts';
import { zero } from './testing/imitated-nvme.ts';
import { ImitatedServer } from './testing/imitated-server.ts';
import { type VfioDevices, vfioDevices } from './vfio-devices.ts';

const VM = '1f0e4a7c-3f0b-4c59-9d6e-0a4f5b1c2d31';
const OTHER_VM = '2f0e4a7c-3f0b-4c59-9d6e-0a4f5b1c2d32';
const GPU = '0000:41:00.0';
const SOUND = '0000:41:00.1';
const DRIVE = '0000:61:00.0';
const gpu: Device = { vmId: VM, kind: 'gpu', address: GPU };
const drive: Device = { vmId: VM, kind: 'drive', address: DRIVE };
const DRIVE_BYTES = 4 * 1024 * 1024;

let server: ImitatedServer;
let devices: VfioDevices;

/** The devices of a restarted agent, which knows only what is on disk. */
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

describe('binding a device', () => {
  it('takes every function of a card from its driver, and knows its VM after a restart', async () => {
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

  it('refuses a card whose IOMMU group has another device of the host, and names that device', async () => {
    await server.add('0000:41:01.0', { deviceClass: '020000', driver: 'e1000e', group: 7 });
    await expect(devices.bind(gpu, [GPU])).rejects.toMatchObject({
      code: 'iommu_group_shared',
      message: expect.stringMatching(/0000:41:01\.0 is in IOMMU group 7 .* driver e1000e/),
    });
    expect(server.asked).toEqual([]);
    expect(await devices.list()).toEqual([]);
  });

  it('ignores bridges, idle devices and devices of the same VM in the group', async () => {
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

  it('fails with device_lost if the device fell off the bus', async () => {
    await server.loseConfig(GPU);
    await expect(devices.bind(gpu, [])).rejects.toMatchObject({ code: 'device_lost' });
  });

  it('refuses a drive that the host uses, and says for what', async () => {
    await server.mount('259:0', '/srv');
    await expect(devices.bind(drive, [])).rejects.toMatchObject({
      code: 'device_in_use_by_host',
      message: expect.stringContaining('mounted at /srv'),
    });
    expect(await server.driverOf(DRIVE)).toBe('nvme');
  });

  it('refuses an unassigned drive with signatures, and accepts the signatures of its own tenant', async () => {
    const bytes = await readFile(server.drivePath(DRIVE));
    bytes.write('LABELONE', 512);
    await writeFile(server.drivePath(DRIVE), bytes);
    await expect(devices.bind(drive, [])).rejects.toMatchObject({ code: 'device_in_use_by_host' });
    await zero(server.drivePath(DRIVE));
    await devices.bind(drive, []);
    // As after a reboot of the host: the drive is on its own driver, with the tenant's data.
    const unbind = `bus/pci/devices/${DRIVE}/driver/unbind`;
    await server.options().control.write({ path: unbind, value: DRIVE, address: DRIVE });
    await writeFile(server.drivePath(DRIVE), bytes);
    restart();
    await devices.bind(drive, []);
    expect(await server.driverOf(DRIVE)).toBe('vfio-pci');
  });

  it('keeps the host from reading a tenant’s data as long as it may be on the drive', async () => {
    await devices.bind(drive, []);
    expect(await tenantRules()).toContain('ATTRS{serial}=="S1"');
    await devices.release(drive);
    expect(await tenantRules()).toBe('there are none');
  });

  it('takes a drive out of a RAID that the host assembled from tenants’ drives', async () => {
    await devices.bind(drive, []);
    // As after a reboot at which the host found the tenant's RAID.
    const { control } = server.options();
    const override = `bus/pci/devices/${DRIVE}/driver_override`;
    await control.write({ path: override, value: '', address: DRIVE });
    await control.write({ path: 'bus/pci/drivers_probe', value: DRIVE, address: DRIVE });
    await server.assemble('md127', DRIVE);
    restart();
    await devices.bind(drive, []);
    expect(server.asked).toContain('mdadm --stop /dev/md127');
    expect(await server.driverOf(DRIVE)).toBe('vfio-pci');
  });

  it('hides the drives that VMs have or may get from the boot of the host', async () => {
    const free = { serial: 'S2', bytes: DRIVE_BYTES, group: 10 };
    await server.addDrive('0000:62:00.0', free);
    const own = await server.addDrive('0000:63:00.0', { ...free, serial: 'S3', group: 11 });
    await writeFile(own, 'LABELONE'.padStart(520));
    await zero(server.drivePath('0000:62:00.0'));
    await zero(server.drivePath(DRIVE));
    await devices.bind(drive, []);
    await devices.hideFromBoot(await server.readDevices());
    const rules = await readFile(server.earlyBoot.rules, 'utf8');
    expect(rules.match(/S[123]/g)).toEqual(['S1', 'S2']);
  });

  it('works in a PCI domain of five digits', async () => {
    const far = '10000:01:00.0';
    await server.add(far, { deviceClass: '030200', driver: 'nouveau', group: 12 });
    await devices.bind({ ...gpu, address: far }, []);
    expect(await server.driverOf(far)).toBe('vfio-pci');
    expect(await server.driverOf(GPU)).toBe('nouveau');
  });
});

describe('releasing a card', () => {
  it('resets it, verifies the reset, and returns each function to its earlier driver', async () => {
    await devices.bind(gpu, []);
    expect(await devices.release(gpu)).toMatchObject({ serial: '', method: 'flr', failure: null });
    expect(await drivers()).toEqual(['nouveau', 'snd_hda_intel', 'nvme']);
    expect(await devices.list()).toEqual([]);
    expect(server.asked).toContain(`${GPU}/reset 1`);
  });

  it('names the method that worked if the first one failed', async () => {
    server.reactions.reset = (method) => {
      if (method === 'flr') throw new Error('Inappropriate ioctl for device');
    };
    expect(await devices.release(gpu)).toMatchObject({ method: 'bus', failure: null });
  });

  it('resets the bus of a card with several functions that has no function-level reset', async () => {
    server.reactions.reset = () => {
      throw new Error('Inappropriate ioctl for device');
    };
    await devices.bind(gpu, []);
    expect(await devices.release(gpu)).toMatchObject({ method: 'bus', failure: null });
    expect(server.asked.join('\n')).toMatch(
      new RegExp(`${GPU}/remove 1[^]*config 0000:40:01.0 62 4000\n[^]*config .* 62 0000\n`),
    );
  });

  it('does not reset a bus with another device on it', async () => {
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

  it('changes nothing while a process has it open', async () => {
    await devices.bind(gpu, []);
    await server.open('/dev/vfio/7');
    const asked = server.asked.length;
    await expect(devices.release(gpu)).rejects.toMatchObject({
      ...{ code: 'device_in_use', message: expect.stringContaining('qemu-system-x86 (4711)') },
    });
    expect(server.asked).toHaveLength(asked);
  });
});

describe('releasing a drive', () => {
  const isErased = async () =>
    (await readFile(server.drivePath(DRIVE))).every((byte) => byte === 0);

  it('erases it with a command of the drive and returns it to the host', async () => {
    await devices.bind(drive, []);
    const cleaning = await devices.release(drive);
    expect(cleaning).toMatchObject({ serial: 'S1', method: 'format_ses1', failure: null });
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

  it('erases several drives at the same time, at most eight, and gives each time for its size', async () => {
    const drives = await Promise.all(
      Array.from({ length: 10 }, async (_, index) => {
        const address = `0000:7${index}:00.0`;
        await server.addDrive(address, {
          serial: `T${index}`,
          bytes: DRIVE_BYTES,
          group: 70 + index,
        });
        return { ...drive, address };
      }),
    );
    let inProgress = 0;
    let most = 0;
    let openGate = () => {};
    const eightAtOnce = new Promise<void>((resolve) => {
      openGate = resolve;
    });
    server.reactions.format = async (path) => {
      inProgress += 1;
      most = Math.max(most, inProgress);
      if (inProgress === 8) openGate();
      await eightAtOnce;
      await zero(path);
      inProgress -= 1;
    };
    for (const each of drives) await devices.bind(each, []);
    const cleanings = await Promise.all(drives.map((each) => devices.release(each)));
    expect(cleanings.map(({ serial }) => serial)).toEqual(drives.map((_, index) => `T${index}`));
    expect(most).toBe(8);
    const timeout = `--timeout ${eraseLimitMs('format', DRIVE_BYTES)}`;
    expect(server.asked.filter((asked) => asked.endsWith(timeout))).toHaveLength(10);
  });

  it('may take longer the larger a drive is, by what the slowest drives need', () => {
    const hours = (method: 'format' | 'overwrite', terabytes: number) =>
      Math.round(eraseLimitMs(method, terabytes * 1e12) / 3_600_000);
    expect([hours('format', 1), hours('format', 30)]).toEqual([1, 9]);
    expect([hours('overwrite', 1), hours('overwrite', 30)]).toEqual([2, 42]);
  });

  it('detects a drive that reports success and is not erased', async () => {
    server.reactions.format = async () => undefined;
    await devices.bind(drive, []);
    expect(await devices.release(drive)).toMatchObject({ method: 'overwrite', failure: null });
    expect(await isErased()).toBe(true);
  });

  it('detects a drive that is erased except for its last block', async () => {
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
    expect(await tenantRules()).toContain('ATTRS{serial}=="S1"');
    // An operator may still release it for other VMs.
    await devices.bind({ ...drive, vmId: OTHER_VM }, []);
    expect(await devices.list()).toEqual([{ ...drive, vmId: OTHER_VM }]);
  });
});

describe('a drive that a VM gets as a block device', () => {
  beforeEach(() => {
    server.drivesAsBlocks = true;
    restart();
  });

  it('stays on the host’s driver, belongs to one VM, and is erased on its release', async () => {
    await devices.bind(drive, []);
    expect(await server.driverOf(DRIVE)).toBe('nvme');
    expect(await tenantRules()).toContain('ATTRS{serial}=="S1"');
    const other = { ...drive, vmId: OTHER_VM };
    await expect(devices.bind(other, [])).rejects.toMatchObject({ code: 'device_in_use' });
    expect(await devices.release(drive)).toMatchObject({ method: 'format_ses1', failure: null });
    expect((await readFile(server.drivePath(DRIVE))).every((byte) => byte === 0)).toBe(true);
  });

  it('is not erased while a process has it open', async () => {
    await devices.bind(drive, []);
    await server.open(server.drivePath(DRIVE));
    await expect(devices.release(drive)).rejects.toMatchObject({ code: 'device_in_use' });
    expect((await readFile(server.drivePath(DRIVE))).includes('tenant data')).toBe(true);
  });
});

describe('if the agent is killed before any step', () => {
  /** Each run of the agent is killed one request later than the run before. */
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

  it('binding again completes the work', async () => {
    expect(await untilDone(() => devices.bind(gpu, []))).toBeGreaterThan(3);
    expect(await drivers()).toEqual(['vfio-pci', 'vfio-pci', 'nvme']);
    expect(await devices.release(gpu)).toMatchObject({ failure: null });
    expect(await drivers()).toEqual(['nouveau', 'snd_hda_intel', 'nvme']);
  });

  it('releasing a card that is reset with its bus again completes the work', async () => {
    await devices.bind(gpu, []);
    server.reactions.reset = () => {
      throw new Error('Inappropriate ioctl for device');
    };
    expect(await untilDone(() => devices.release(gpu))).toBeGreaterThan(8);
    expect(await drivers()).toEqual(['nouveau', 'snd_hda_intel', 'nvme']);
  });

  it('releasing a drive again completes the work, and the drive is erased', async () => {
    await devices.bind(drive, []);
    server.abilities = { oacs: 0x2, sanicap: 0 };
    expect(await untilDone(() => devices.release(drive))).toBeGreaterThan(3);
    expect((await readFile(server.drivePath(DRIVE))).every((byte) => byte === 0)).toBe(true);
    expect(await devices.list()).toEqual([]);
    expect(await readFile(join(server.root, 'data/devices.json'), 'utf8').catch(() => '')).toBe('');
  });
});
