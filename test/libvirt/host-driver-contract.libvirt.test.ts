import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readHostDriverSettings } from '@gantry/agent/libvirt/host-driver-settings';
import {
  type LibvirtHostDriver,
  openLibvirtHostDriver,
} from '@gantry/agent/libvirt/libvirt-host-driver';
import { describeHostDriverContract } from '@gantry/agent/testing/host-driver-contract';
import { createLog } from '@gantry/daemon/log';
import { createSettingsReader } from '@gantry/daemon/settings';
import { buildTinyGuest, type TinyGuest } from '@gantry/local/guest/build-tiny-guest';
import { tinyGuestDirectory } from '@gantry/testkit/real-host/guest/tiny-guest-directory';
import { type LibvirtHost, startLibvirtHost } from '@gantry/testkit/real-host/host';
import { writeStandIns } from '@gantry/testkit/real-host/stand-ins';
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';

describe('the libvirt driver fulfils the contract of a host driver', () => {
  const log = createLog({ process: 'test', level: process.env['GANTRY_LOG_LEVEL'] ?? 'silent' });
  let host: LibvirtHost;
  let guest: TinyGuest;
  let sysfsRoot: string;
  let driver: LibvirtHostDriver;
  let made = 0;

  beforeAll(async () => {
    guest = await buildTinyGuest({ directory: tinyGuestDirectory });
    host = await startLibvirtHost('contract');
    sysfsRoot = await writeStandIns(host.directory);
  });
  afterAll(() => host?.stop());

  /** The state after each case: no domain, no interface, and an empty folder for the next case. */
  afterEach(async () => {
    for (const { vmId } of await driver.hypervisor.list()) {
      await driver.hypervisor.powerOff(vmId);
      await driver.hypervisor.undefine(vmId);
      await driver.network.removeInterfaces(vmId);
    }
    await driver.close();
    await host.runIn('nft', 'flush', 'ruleset');
  });

  describeHostDriverContract(async () => {
    made += 1;
    const dataDirectory = join(host.dataDirectory, String(made));
    await mkdir(dataDirectory, { mode: 0o711 });
    const settings = readHostDriverSettings(
      createSettingsReader({
        ...host.environment,
        GANTRY_DATA_DIRECTORY: dataDirectory,
        GANTRY_SYSFS_ROOT: sysfsRoot,
        GANTRY_STAND_IN_DEVICES: '1',
      }),
    );
    driver = await openLibvirtHostDriver({ ...settings, netns: host.namespace }, log);
    const { devices = [] } = await driver.readInventory();
    const addressesOf = (wanted: string) =>
      devices.flatMap(({ kind, address = '' }) => (kind === wanted ? [address] : []));
    const [gpu = '', otherGpu = ''] = addressesOf('gpu');
    const [drive = ''] = addressesOf('drive');
    return {
      driver,
      gpus: [gpu, otherGpu],
      drive,
      image: { name: 'tiny', url: pathToFileURL(guest.path).href, sha256: guest.sha256, id: '' },
      size: { cpuCores: 1, memoryMib: 256 },
      untilBooted: (vmId) =>
        expect.poll(() => driver.hypervisor.readSerialLog(vmId)).toContain('TINY: READY'),
    };
  });
});
