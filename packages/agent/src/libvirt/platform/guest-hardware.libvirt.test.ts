import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '@gantry/daemon/log';
import { createSettingsReader } from '@gantry/daemon/settings';
import { type PrivateLibvirtd, startPrivateLibvirtd } from 'node-libvirt/testing/private-libvirtd';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { makeVm } from '../../testing/make-spec.ts';
import { domainName } from '../domain-xml/domain-definition.ts';
import { readHostDriverSettings } from '../host-driver-settings.ts';
import { type LibvirtHostDriver, openLibvirtHostDriver } from '../libvirt-host-driver.ts';

const VM = makeVm('5b8f2a64-2c6d-4a5e-9b1f-7d3c0e9a1f20', { disks: [], interfaces: [] });
const NEWEST = process.arch === 'x64' ? /^pc-q35-\d+\.\d+$/ : /^virt-\d+\.\d+$/;
/** Older than the newest, and supported by every QEMU from 6.2 to 9.2. */
const OLD = process.arch === 'x64' ? 'pc-q35-5.2' : 'virt-5.2';
const GONE = process.arch === 'x64' ? 'pc-q35-0.1' : 'virt-0.1';

let libvirtd: PrivateLibvirtd;
let directory: string;
let driver: LibvirtHostDriver;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'gantry-guest-hardware-'));
  libvirtd = await startPrivateLibvirtd();
  const reader = createSettingsReader({
    GANTRY_LIBVIRT_SOCKET: libvirtd.socketPath,
    GANTRY_DATA_DIRECTORY: directory,
    GANTRY_STAND_IN_DEVICES: '1',
    GANTRY_ACCELERATOR: 'tcg',
  });
  const log = createLog({ process: 'test', level: 'silent' });
  driver = await openLibvirtHostDriver(readHostDriverSettings(reader), log);
});
afterAll(async () => {
  await driver?.close();
  await libvirtd?.stop();
  await rm(directory, { recursive: true });
});
afterEach(() => driver.hypervisor.undefine(VM.id));

const define = (kept?: Awaited<ReturnType<typeof first>>) => driver.hypervisor.define(VM, kept);
const first = async () => {
  const hardware = await driver.hypervisor.define(VM);
  if (!hardware) throw new Error('BUG: a libvirt domain has hardware');
  return hardware;
};

describe('the hardware of a guest', () => {
  it('has a version from the first definition on, and firmware that the agent keeps', async () => {
    const hardware = await first();
    expect(hardware.machineType).toMatch(NEWEST);
    expect(hardware.loader).toMatch(new RegExp(`^${directory}/firmware/[0-9a-f]{64}\\.fd$`));
  });

  it('stays what the agent recorded, although this QEMU has a newer machine type', async () => {
    const kept = { ...(await first()), machineType: OLD };
    expect(await define(kept)).toEqual(kept);
  });

  it('survives the loss of the definition, which the record replaces', async () => {
    const kept = { ...(await first()), machineType: OLD };
    await driver.hypervisor.undefine(VM.id);
    expect(await define(kept)).toEqual(kept);
  });

  it('survives the loss of the record, which the definition replaces', async () => {
    const kept = { ...(await first()), machineType: OLD };
    await define(kept);
    expect(await define()).toEqual(kept);
  });

  it('is the newest again after a take-down', async () => {
    await define({ ...(await first()), machineType: OLD });
    await driver.hypervisor.undefine(VM.id);
    expect((await first()).machineType).toMatch(NEWEST);
  });

  it('that QEMU no longer supports fails with the reason and leaves the definition as it is', async () => {
    const hardware = await first();
    await expect(define({ ...hardware, machineType: GONE })).rejects.toMatchObject({
      code: 'hardware_unavailable',
      message: expect.stringContaining(GONE),
    });
    const virsh = ['virsh', '--quiet', '--connect', 'qemu:///system'] as const;
    expect(await libvirtd.run(...virsh, 'dumpxml', domainName(VM.id))).toContain(
      `machine='${hardware.machineType}'`,
    );
  });
});
