import { GIB } from '@gantry/daemon/units';
import { beforeEach, describe, expect, it } from 'vitest';
import type { HostDriver } from '../host-driver.ts';
import type { VmSpec } from '../spec.ts';
import { gpu, makeDisk, makeInterface, makeNetwork, makeRule, makeVm } from './make-spec.ts';

/** A host that runs the contract tests. It has at least two GPUs and a drive. */
export type ContractHost = {
  driver: HostDriver;
  gpus: readonly [string, string];
  drive: string;
  image: NonNullable<VmSpec['image']>;
  /** The size of the test VMs. */
  size: Pick<VmSpec, 'cpuCores' | 'memoryMib'>;
  /** Returns once the guest reacts to requests. */
  untilBooted(vmId: string): Promise<void>;
};

const VM = '1f0e4a7c-3f0b-4c59-9d6e-0a4f5b1c2d31';
const OTHER_VM = '2f0e4a7c-3f0b-4c59-9d6e-0a4f5b1c2d32';

/** The guarantees that the agent relies on, for every implementation of HostDriver. */
export function describeHostDriverContract(make: () => Promise<ContractHost>): void {
  let under: ContractHost;
  let driver: HostDriver;

  beforeEach(async () => {
    under = await make();
    driver = under.driver;
  });

  const newVm = (id: string, vm: Partial<VmSpec> = {}) =>
    makeVm(id, { ...under.size, image: under.image, ...vm });
  const domainOf = async (vmId: string) =>
    (await driver.hypervisor.list()).find((domain) => domain.vmId === vmId);

  /** Ensures every part of a VM below the domain. */
  const prepare = async (vm: VmSpec) => {
    for (const disk of vm.disks) {
      await driver.volumes.create(disk, disk.id === vm.disks[0]?.id ? under.image : null);
    }
    await driver.seeds.ensure(vm);
    await driver.network.applyFirewall({ rules: [makeRule('r')], interfaces: vm.interfaces });
    await driver.network.ensureInterfaces(vm.id, vm.interfaces);
    const companions = vm.devices.map(({ address }) => address);
    for (const device of vm.devices) {
      await driver.devices.bind({ vmId: vm.id, ...device }, companions);
    }
    await driver.hypervisor.define(vm);
  };
  const run = async (vm: VmSpec) => {
    await prepare(vm);
    await driver.hypervisor.start(vm.id, vm.generation);
  };

  describe('disks', () => {
    it('are shown with their size after their creation, and creating one again changes nothing', async () => {
      expect(await driver.volumes.read('d')).toBeNull();
      await driver.volumes.create(makeDisk('d'), null);
      await driver.volumes.create(makeDisk('d', { sizeBytes: String(2 * GIB) }), null);
      expect(await driver.volumes.read('d')).toEqual({ id: 'd', sizeBytes: String(GIB) });
    });

    it('are listed from their creation to their removal', async () => {
      await driver.volumes.create(makeDisk('d'), null);
      expect(await driver.volumes.list()).toContain('d');
      await driver.volumes.remove('d');
      expect(await driver.volumes.list()).not.toContain('d');
    });

    it('grow, and never shrink', async () => {
      await driver.volumes.create(makeDisk('d'), null);
      await driver.volumes.grow(makeDisk('d', { sizeBytes: String(2 * GIB) }));
      await driver.volumes.grow(makeDisk('d', { sizeBytes: String(2 * GIB) }));
      await expect(driver.volumes.grow(makeDisk('d'))).rejects.toThrow();
      expect((await driver.volumes.read('d'))?.sizeBytes).toBe(String(2 * GIB));
    });

    it('are removed, also if they do not exist, and never while a guest has them', async () => {
      await driver.volumes.remove('d');
      await run(newVm(VM));
      await expect(driver.volumes.remove(`${VM}-os`)).rejects.toThrow();
      await driver.hypervisor.powerOff(VM);
      await driver.hypervisor.undefine(VM);
      await driver.volumes.remove(`${VM}-os`);
      expect(await driver.volumes.read(`${VM}-os`)).toBeNull();
    });

    it('are open for writing in one running domain only', async () => {
      await run(newVm(VM));
      const second = newVm(OTHER_VM, { disks: [makeDisk(`${VM}-os`)] });
      await prepare(second);
      await expect(driver.hypervisor.start(OTHER_VM, '1')).rejects.toThrow();
      expect((await domainOf(OTHER_VM))?.state).toBe('shutoff');
    });
  });

  describe('devices', () => {
    it('belong to one VM at a time; binding again changes nothing', async () => {
      const [address] = under.gpus;
      await driver.devices.bind({ vmId: VM, kind: 'gpu', address }, []);
      await driver.devices.bind({ vmId: VM, kind: 'gpu', address }, []);
      await expect(
        driver.devices.bind({ vmId: OTHER_VM, kind: 'gpu', address }, []),
      ).rejects.toMatchObject({ code: 'device_in_use' });
      expect(await driver.devices.list()).toEqual([{ vmId: VM, kind: 'gpu', address }]);
    });

    it('are not cleaned while another VM has them', async () => {
      const [address] = under.gpus;
      await driver.devices.bind({ vmId: VM, kind: 'gpu', address }, []);
      await expect(
        driver.devices.release({ vmId: OTHER_VM, kind: 'gpu', address }),
      ).rejects.toMatchObject({ code: 'device_in_use' });
    });

    it('are free for another once released, and say how they were cleaned', async () => {
      const drive = { vmId: VM, kind: 'drive', address: under.drive } as const;
      await driver.devices.bind(drive, []);
      const cleaning = await driver.devices.release(drive);
      expect(cleaning).toMatchObject({ failure: null });
      expect(cleaning.method).not.toBe('');
      expect(cleaning.serial).not.toBe('');
      expect(await driver.devices.list()).toEqual([]);
      await driver.devices.bind({ ...drive, vmId: OTHER_VM }, []);
    });

    it('are cleaned also if no VM has them', async () => {
      const [, address] = under.gpus;
      const cleaning = await driver.devices.release({ vmId: VM, kind: 'gpu', address });
      expect(cleaning.failure).toBeNull();
    });

    it('must be bound before their domain starts', async () => {
      const vm = newVm(VM, { devices: [gpu(under.gpus[0])] });
      await prepare({ ...vm, devices: [] });
      await driver.hypervisor.define(vm);
      await expect(driver.hypervisor.start(VM, '1')).rejects.toThrow();
    });
  });

  describe('domains', () => {
    it('are defined, started and kept with revision, generation, devices and disks', async () => {
      const vm = newVm(VM, { revision: '7', generation: '3', devices: [gpu(under.gpus[0])] });
      await prepare(vm);
      expect(await domainOf(VM)).toMatchObject({
        state: 'shutoff',
        generation: '0',
        revision: '7',
      });
      await driver.hypervisor.start(VM, '3');
      await driver.hypervisor.start(VM, '3');
      expect(await domainOf(VM)).toEqual({
        vmId: VM,
        state: 'running',
        revision: '7',
        generation: '3',
        devices: [gpu(under.gpus[0])],
        disks: [{ id: `${VM}-os`, sizeBytes: String(GIB) }],
      });
      expect(await driver.hypervisor.read(VM)).toEqual(await domainOf(VM));
    });

    it('keep running under a new definition, which carries its revision', async () => {
      await run(newVm(VM));
      await driver.hypervisor.define(newVm(VM, { revision: '2' }));
      expect(await domainOf(VM)).toMatchObject({
        state: 'running',
        revision: '2',
        generation: '1',
      });
    });

    it('keep the generation of a reset', async () => {
      await run(newVm(VM));
      await driver.hypervisor.reset(VM, '2');
      expect(await domainOf(VM)).toMatchObject({ state: 'running', generation: '2' });
    });

    it('end when their guest is asked to shut down, and notify the watcher', async () => {
      await run(newVm(VM));
      await under.untilBooted(VM);
      const told = new Promise<string>((domainChanged) => {
        const others = { domainRecovered() {}, reconnected() {}, serialLogGrew() {} };
        driver.hypervisor.watch({ ...others, domainChanged });
      });
      await driver.hypervisor.askShutdown(VM);
      expect(await told).toBe(VM);
      await expect.poll(async () => (await domainOf(VM))?.state).toBe('shutoff');
    });

    it('are powered off and undefined, also if they do not exist', async () => {
      await run(newVm(VM));
      await expect(driver.hypervisor.undefine(VM)).rejects.toThrow();
      for (let times = 0; times < 2; times += 1) {
        await driver.hypervisor.powerOff(VM);
        await driver.hypervisor.undefine(VM);
      }
      expect(await driver.hypervisor.list()).toEqual([]);
      expect(await driver.hypervisor.read(VM)).toBeNull();
      expect(await driver.hypervisor.readSerialLog(VM)).toBe('');
    });

    it('attach, grow and detach disks while they run', async () => {
      await run(newVm(VM));
      await under.untilBooted(VM);
      const data = makeDisk('data');
      await driver.volumes.create(data, null);
      await driver.hypervisor.attachDisk(VM, data);
      await driver.hypervisor.attachDisk(VM, data);
      const grown = makeDisk('data', { sizeBytes: String(2 * GIB) });
      await expect(driver.volumes.grow(grown)).rejects.toThrow();
      await driver.hypervisor.growDisk(VM, grown);
      expect((await domainOf(VM))?.disks[1]).toEqual({
        id: 'data',
        sizeBytes: String(2 * GIB),
      });
      await driver.hypervisor.detachDisk(VM, 'data');
      await driver.hypervisor.detachDisk(VM, 'data');
      expect((await domainOf(VM))?.disks).toHaveLength(1);
    });

    it('limit disks from their start on, and otherwise while they run', async () => {
      const os = { ...makeDisk(`${VM}-os`), tune: { total_iops_sec: '500' } };
      await run(newVm(VM, { disks: [os] }));
      const tuneOf = async () => (await domainOf(VM))?.disks[0]?.tune;
      expect(await tuneOf()).toEqual(os.tune);
      const each = { read_bytes_sec: '1000000', write_bytes_sec: '2000000', read_iops_sec: '300' };
      const burst = { read_iops_sec_max: '900', read_iops_sec_max_length: '3' };
      for (const tune of [{ ...each, ...burst }, each, { total_iops_sec: '700' }, {}]) {
        await driver.hypervisor.limitDisk(VM, { ...os, tune });
        await driver.hypervisor.limitDisk(VM, { ...os, tune });
        expect((await tuneOf()) ?? {}).toEqual(tune);
      }
    });

    it('detach a disk right after it was attached, repeatedly', async () => {
      await run(newVm(VM));
      await under.untilBooted(VM);
      const data = makeDisk('data');
      await driver.volumes.create(data, null);
      for (let times = 0; times < 3; times += 1) {
        await driver.hypervisor.attachDisk(VM, data);
        await driver.hypervisor.detachDisk(VM, 'data');
        expect((await domainOf(VM))?.disks).toHaveLength(1);
      }
    });

    it('print to a log that can be read', async () => {
      await run(newVm(VM));
      await expect.poll(() => driver.hypervisor.readSerialLog(VM)).not.toBe('');
    });
  });

  it('the firewall is in force completely or not at all', async () => {
    const firewall = { rules: [makeRule('a')], interfaces: [makeInterface('n')] };
    expect(await driver.network.isInForce(firewall)).toBe(false);
    await driver.network.applyFirewall(firewall);
    expect(await driver.network.isInForce(firewall)).toBe(true);
    expect(await driver.network.isInForce({ ...firewall, rules: [] })).toBe(false);
    const more = [{ cidr: '10.0.1.0/24', gatewayIpv4: '10.0.1.1' }];
    const spanning = { ...firewall, networks: [makeNetwork('network-1', { subnets: more })] };
    expect(await driver.network.isInForce(spanning)).toBe(false);
    await driver.network.applyFirewall(spanning);
    expect(await driver.network.isInForce(spanning)).toBe(true);
  });

  it('guest services accept VMs before, while and after they have interfaces', async () => {
    const vm = newVm(VM);
    await driver.network.serveGuests([vm]);
    await prepare(vm);
    await driver.network.serveGuests([vm]);
    await driver.network.removeInterfaces(VM);
    await driver.network.serveGuests([]);
  });

  it('creating and removing interfaces and seeds is idempotent', async () => {
    const vm = newVm(VM);
    await prepare(vm);
    await prepare(vm);
    for (let times = 0; times < 2; times += 1) {
      await driver.network.removeInterfaces(VM);
      await driver.seeds.remove(VM);
    }
  });

  it('the boot id is constant while the host runs, and the inventory names its devices', async () => {
    expect(await driver.readBootId()).toBe(await driver.readBootId());
    const { devices = [] } = await driver.readInventory();
    const found = devices.map(({ kind, address }) => ({ kind, address }));
    for (const address of under.gpus) expect(found).toContainEqual({ kind: 'gpu', address });
    expect(found).toContainEqual({ kind: 'drive', address: under.drive });
  });

  it('a console shows what is typed into it, can be opened again, and ends with its domain', async () => {
    await expect(driver.hypervisor.openConsole(VM)).rejects.toMatchObject({
      code: 'vm_not_running',
    });
    await run(newVm(VM));
    await under.untilBooted(VM);
    (await driver.hypervisor.openConsole(VM)).destroy();
    const line = await driver.hypervisor.openConsole(VM);
    let shown = '';
    line.on('data', (bytes: Buffer) => {
      shown += bytes;
    });
    const ended = new Promise((resolve) => line.once('end', resolve));
    line.write('typed-here\r');
    await expect.poll(() => shown).toContain('typed-here');
    await driver.hypervisor.powerOff(VM);
    await ended;
  });
}
