import { describeHostDriverContract } from '@gantry/agent/testing/host-driver-contract';
import { gpu, makeDisk, makeVm } from '@gantry/agent/testing/make-spec';
import { describeSlowDomainContract } from '@gantry/agent/testing/slow-domain-contract';
import { ManualClock } from '@gantry/testkit/clock/manual-clock';
import { describe, expect, it } from 'vitest';
import { DRIVES, GPUS, makeInventory } from '../testing/make-inventory.ts';
import { runAlone } from '../testing/run-alone.ts';
import { DiskStore } from './disk-store.ts';
import { SimulatedHostDriver } from './simulated-host-driver.ts';

const inventory = makeInventory();

describe('a simulated machine is a machine', () => {
  describeHostDriverContract(async () => ({
    driver: new SimulatedHostDriver({ inventory }),
    gpus: [GPUS[0], GPUS[1]],
    drive: DRIVES[0],
    image: { name: 'debian-12', url: 'https://images.test/debian-12.raw', sha256: 'ab', id: '' },
    size: { cpuCores: 8, memoryMib: 16_384 },
    untilBooted: async () => {},
  }));
});

describe('a simulated machine is as slow as it is told to be', () => {
  describeSlowDomainContract(async () => {
    const clock = new ManualClock();
    const behaviour = { bootMs: 60_000 };
    const driver = new SimulatedHostDriver({ inventory, clock, behaviour });
    return {
      driver,
      find: (vmId) => driver.hypervisor.domain(vmId),
      finishStart: () => clock.advance(behaviour.bootMs),
      wedge: async (vmId) => driver.hypervisor.wedge(vmId),
      unwedge: (vmId) => driver.hypervisor.unwedge(vmId),
    };
  });
});

describe('a reboot', () => {
  it('removes running domains, interfaces and rules, and keeps disks and devices', async () => {
    const driver = new SimulatedHostDriver({ inventory });
    const bootId = await driver.readBootId();
    await runAlone(driver, makeVm('vm-1', { devices: [gpu(GPUS[0])] }));
    driver.reboot();
    expect(await driver.readBootId()).not.toBe(bootId);
    expect(await driver.hypervisor.list()).toEqual([]);
    expect(driver.network.vmIds()).toEqual([]);
    expect(driver.network.firewall).toBeNull();
    expect(driver.disks.ids()).toEqual(['vm-1-os']);
    expect(await driver.devices.list()).toHaveLength(1);
  });
});

describe('shared storage', () => {
  it('gives every host access to a disk, and only one host at a time may run from it', async () => {
    const disks = new DiskStore();
    const [a, b] = [
      new SimulatedHostDriver({ inventory, disks }),
      new SimulatedHostDriver({ inventory, disks }),
    ];
    const vm = makeVm('vm-1');
    await runAlone(a, vm);
    expect(await b.volumes.read('vm-1-os')).not.toBeNull();
    await expect(runAlone(b, vm)).rejects.toMatchObject({ code: 'disk_in_use' });
    await a.hypervisor.powerOff('vm-1');
    await runAlone(b, vm);
  });

  it('allows many readers of a block device, and many writers of a shared volume', async () => {
    const driver = new SimulatedHostDriver({ inventory });
    const readOnly = makeDisk('set', { readOnly: true });
    const shared = makeDisk('home', { kind: 'DISK_KIND_SHARED_VOLUME' });
    for (const id of ['vm-1', 'vm-2']) {
      await runAlone(driver, makeVm(id, { disks: [makeDisk(`${id}-os`), readOnly, shared] }));
    }
    expect(await driver.hypervisor.list()).toHaveLength(2);
    const writer = makeVm('vm-3', { disks: [makeDisk('vm-3-os'), makeDisk('set')] });
    await expect(runAlone(driver, writer)).rejects.toMatchObject({ code: 'disk_in_use' });
  });
});

it('a fault happens as often as requested', async () => {
  const driver = new SimulatedHostDriver({ inventory });
  driver.faults.failNext('create_disk', 1, { code: 'host_failed', message: 'no space' });
  await expect(driver.volumes.create(makeDisk('d'), null)).rejects.toThrow('no space');
  driver.faults.hang('create_disk');
  const creating = driver.volumes.create(makeDisk('d'), null);
  expect(driver.faults.hangingIn('create_disk')).toBe(1);
  driver.faults.unhang('create_disk');
  await creating;
  expect(driver.disks.ids()).toEqual(['d']);
});
