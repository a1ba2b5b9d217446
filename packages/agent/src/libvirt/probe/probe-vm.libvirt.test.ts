import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '@gantry/daemon/log';
import { createSettingsReader } from '@gantry/daemon/settings';
import { type PrivateLibvirtd, startPrivateLibvirtd } from 'node-libvirt/testing/private-libvirtd';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { domainName, type Platform, PROBE_VM_ID } from '../domain-xml/domain-definition.ts';
import { readHostDriverSettings } from '../host-driver-settings.ts';
import { openLibvirtHostDriver } from '../libvirt-host-driver.ts';
import { detectPlatform } from '../platform/platform.ts';
import { type ProbeVmOptions, startProbeVm } from './probe-vm.ts';

/** Emulated firmware needs 4 s of a CPU that may be shared with much other work. */
const LIMIT_MS = 200_000;

let libvirtd: PrivateLibvirtd;
let dataDirectory: string;
let platform: Platform;

beforeAll(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), 'gantry-probe-vm-'));
  await chmod(dataDirectory, 0o711);
  // As on a stock host: QEMU does not run as root.
  const qemuConf = ['user = "nobody"', 'group = "nogroup"', 'dynamic_ownership = 1'];
  libvirtd = await startPrivateLibvirtd({ qemuConf });
  const detection = await detectPlatform();
  if (!detection.found) throw new Error(`missing: ${JSON.stringify(detection.missing)}`);
  platform = detection.platforms.tcg;
});
afterAll(async () => {
  await libvirtd?.stop();
  await rm(dataDirectory, { recursive: true });
});

const virsh = (...args: string[]) =>
  libvirtd.run('virsh', '--quiet', '--connect', 'qemu:///system', ...args);
const domains = async () => (await virsh('list', '--all', '--uuid')).trim();
/** Firmware that waits for ever: an arm64 CPU begins at the first byte, an x64 CPU 16 bytes before the end. */
function silentFirmware(size: number): Buffer {
  const content = Buffer.alloc(size);
  content.write('7f2003d5ffffff17', 0, 'hex');
  content.write('faf4ebfd', size - 16, 'hex');
  return content;
}
const start = (options: Partial<ProbeVmOptions> = {}) =>
  startProbeVm({
    ...{ platform, dataDirectory, socketPath: libvirtd.socketPath, limitMs: LIMIT_MS },
    logDirectory: join(libvirtd.directory, 'log/qemu'),
    ...options,
  });

/** Whatever a probe found, it leaves no domain and only the copies of the firmware. */
afterEach(async () => {
  expect(await domains()).toBe('');
  expect(await readdir(dataDirectory)).toEqual(['firmware']);
});

describe('the probe VM', () => {
  it('starts from an image, and its firmware prints to the console', async () => {
    expect(await start()).toMatchObject({
      works: true,
      detail: expect.stringContaining('printed'),
    });
  });

  it("fails with QEMU's own error if QEMU does not start", async () => {
    const result = await start({ platform: { ...platform, cpu: 'no-such-cpu' } });
    expect(result).toMatchObject({ works: false, detail: expect.stringContaining('no-such-cpu') });
  });

  it('fails with the file that QEMU may not open', async () => {
    await chmod(dataDirectory, 0o700);
    try {
      expect(await start()).toMatchObject({
        works: false,
        detail: expect.stringMatching(/\/.*permission denied/i),
      });
    } finally {
      await chmod(dataDirectory, 0o711);
    }
  });

  it('fails if the firmware prints nothing within the limit', async () => {
    const firmware = { ...platform.firmware, loader: join(libvirtd.directory, 'silent.fd') };
    const { size } = await stat(platform.firmware.loader);
    await writeFile(firmware.loader, silentFirmware(size));
    const silent = { ...platform, firmware };
    expect(await start({ platform: silent, limitMs: 1_000 })).toMatchObject({
      works: false,
      detail: expect.stringContaining('printed nothing'),
    });
  });

  it('replaces what a killed probe left: files, and a domain that outlived its connection', async () => {
    await mkdir(join(dataDirectory, 'probe', 'nvram'), { recursive: true });
    const name = domainName(PROBE_VM_ID);
    const memory = '<memory unit="MiB">64</memory><vcpu>1</vcpu><devices/>';
    const type = `<os><type arch="${platform.arch}" machine="${platform.machine}">hvm</type></os>`;
    const xml = `<domain type="qemu"><name>${name}</name><uuid>${PROBE_VM_ID}</uuid>${memory}${type}</domain>`;
    await libvirtd.run('sh', '-c', `echo '${xml}' >/tmp/probe.xml && virsh create /tmp/probe.xml`);
    expect(await domains()).toBe(PROBE_VM_ID);
    expect(await start()).toMatchObject({ works: true });
  });

  it('lets libvirt give its disk to the user of QEMU, but not the image below it', async () => {
    const probing = start();
    await expect.poll(domains, { timeout: LIMIT_MS }).toBe(PROBE_VM_ID);
    const ownersIn = async (name: string) => {
      const directory = join(dataDirectory, 'probe', name);
      const files = (await readdir(directory)).map((file) => stat(join(directory, file)));
      return (await Promise.all(files)).map(({ uid }) => uid);
    };
    // libvirt changes the owner before it starts QEMU, which may be after it knows the domain.
    const diskOwners = () => ownersIn('volumes');
    await expect.poll(diskOwners, { timeout: LIMIT_MS }).not.toContain(0);
    expect(await ownersIn('images')).toEqual([0]);
    await probing;
  });

  it('is not reported by an agent that looks while it runs', async () => {
    const reader = createSettingsReader({
      GANTRY_LIBVIRT_SOCKET: libvirtd.socketPath,
      GANTRY_DATA_DIRECTORY: await mkdtemp(join(tmpdir(), 'gantry-probe-agent-')),
      GANTRY_STAND_IN_DEVICES: '1',
      GANTRY_ACCELERATOR: 'tcg',
    });
    const settings = readHostDriverSettings(reader);
    const log = createLog({ process: 'test', level: 'silent' });
    const driver = await openLibvirtHostDriver(settings, log);
    try {
      const probing = start();
      await expect.poll(domains, { timeout: LIMIT_MS }).toBe(PROBE_VM_ID);
      expect(await driver.hypervisor.list()).toEqual([]);
      await probing;
    } finally {
      await driver.close();
      await rm(settings.dataDirectory, { recursive: true });
    }
  });
});
