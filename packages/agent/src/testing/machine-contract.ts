import { beforeEach, describe, expect, it } from 'vitest';
import type { Machine } from '../machine.ts';
import type { VmSpec } from '../wanted.ts';
import { makeDisk, makeNic, makeRule, makeVm } from './make-spec.ts';

/** A machine to hold to the contract, with something to hand over: two GPUs and a drive at least. */
export type ContractMachine = {
  machine: Machine;
  gpus: readonly [string, string];
  nvme: string;
  image: NonNullable<VmSpec['image']>;
};

const GIB = 1_073_741_824;

/** What the agent relies on, whatever drives the host. */
export function describeMachineContract(make: () => Promise<ContractMachine>): void {
  let under: ContractMachine;
  let machine: Machine;

  beforeEach(async () => {
    under = await make();
    machine = under.machine;
  });

  const domainOf = async (vmId: string) =>
    (await machine.hypervisor.list()).find((domain) => domain.vmId === vmId);

  /** Everything below the domain. */
  const prepare = async (vm: VmSpec) => {
    for (const disk of vm.disks) {
      await machine.volumes.create(disk, disk.id === vm.disks[0]?.id ? under.image : null);
    }
    await machine.seeds.ensure(vm);
    await machine.network.applyFirewall({ rules: [makeRule('r')], nics: vm.nics });
    await machine.network.ensureNics(vm.id, vm.nics);
    for (const address of vm.gpus) {
      await machine.devices.bind({ vmId: vm.id, kind: 'gpu', address });
    }
    await machine.hypervisor.define(vm);
  };
  const run = async (vm: VmSpec) => {
    await prepare(vm);
    await machine.hypervisor.start(vm.id, vm.boot);
  };

  describe('disks', () => {
    it('are shown with their size once made; making one again leaves it as it is', async () => {
      expect(await machine.volumes.read('d')).toBeNull();
      await machine.volumes.create(makeDisk('d'), null);
      await machine.volumes.create(makeDisk('d', { sizeBytes: String(2 * GIB) }), null);
      expect(await machine.volumes.read('d')).toEqual({ id: 'd', sizeBytes: String(GIB) });
    });

    it('grow, and never shrink', async () => {
      await machine.volumes.create(makeDisk('d'), null);
      await machine.volumes.grow(makeDisk('d', { sizeBytes: String(2 * GIB) }));
      await machine.volumes.grow(makeDisk('d', { sizeBytes: String(2 * GIB) }));
      await expect(machine.volumes.grow(makeDisk('d'))).rejects.toThrow();
      expect((await machine.volumes.read('d'))?.sizeBytes).toBe(String(2 * GIB));
    });

    it('are removed, also when there is none, and not while a guest has them', async () => {
      await machine.volumes.remove('d');
      await run(makeVm('vm-1'));
      await expect(machine.volumes.remove('vm-1-os')).rejects.toThrow();
      await machine.hypervisor.powerOff('vm-1');
      await machine.hypervisor.undefine('vm-1');
      await machine.volumes.remove('vm-1-os');
      expect(await machine.volumes.read('vm-1-os')).toBeNull();
    });

    it('are open for writing in one running domain only', async () => {
      await run(makeVm('vm-1'));
      const second = makeVm('vm-2', { disks: [makeDisk('vm-1-os')] });
      await prepare(second);
      await expect(machine.hypervisor.start('vm-2', '1')).rejects.toThrow();
      expect((await domainOf('vm-2'))?.state).toBe('shutoff');
    });
  });

  describe('devices', () => {
    it('belong to one VM at a time; binding again changes nothing', async () => {
      const [address] = under.gpus;
      await machine.devices.bind({ vmId: 'vm-1', kind: 'gpu', address });
      await machine.devices.bind({ vmId: 'vm-1', kind: 'gpu', address });
      await expect(
        machine.devices.bind({ vmId: 'vm-2', kind: 'gpu', address }),
      ).rejects.toMatchObject({ code: 'device_in_use' });
      expect(await machine.devices.list()).toEqual([{ vmId: 'vm-1', kind: 'gpu', address }]);
    });

    it('are not cleaned from under another VM', async () => {
      const [address] = under.gpus;
      await machine.devices.bind({ vmId: 'vm-1', kind: 'gpu', address });
      await expect(
        machine.devices.release({ vmId: 'vm-2', kind: 'gpu', address }),
      ).rejects.toMatchObject({ code: 'device_in_use' });
    });

    it('are free for another once released, and say how they were cleaned', async () => {
      const drive = { vmId: 'vm-1', kind: 'nvme', address: under.nvme } as const;
      await machine.devices.bind(drive);
      const cleaning = await machine.devices.release(drive);
      expect(cleaning).toMatchObject({ failure: null });
      expect(cleaning.method).not.toBe('');
      expect(cleaning.serial).not.toBe('');
      expect(await machine.devices.list()).toEqual([]);
      await machine.devices.bind({ ...drive, vmId: 'vm-2' });
    });

    it('are cleaned also when no VM has them', async () => {
      const [, address] = under.gpus;
      const cleaning = await machine.devices.release({ vmId: 'vm-1', kind: 'gpu', address });
      expect(cleaning.failure).toBeNull();
    });

    it('must be bound before their domain starts', async () => {
      const vm = makeVm('vm-1', { gpus: [under.gpus[0]] });
      await prepare({ ...vm, gpus: [] });
      await machine.hypervisor.define(vm);
      await expect(machine.hypervisor.start('vm-1', '1')).rejects.toThrow();
    });
  });

  describe('domains', () => {
    it('are defined, started and kept with revision, boot, devices and disks', async () => {
      const vm = makeVm('vm-1', { revision: '7', boot: '3', gpus: [under.gpus[0]] });
      await prepare(vm);
      expect(await domainOf('vm-1')).toMatchObject({ state: 'shutoff', boot: '0', revision: '7' });
      await machine.hypervisor.start('vm-1', '3');
      await machine.hypervisor.start('vm-1', '3');
      expect(await domainOf('vm-1')).toEqual({
        vmId: 'vm-1',
        state: 'running',
        revision: '7',
        boot: '3',
        gpus: [under.gpus[0]],
        nvmes: [],
        disks: [{ id: 'vm-1-os', sizeBytes: String(GIB) }],
      });
    });

    it('run on under a new definition, which carries its revision', async () => {
      await run(makeVm('vm-1'));
      await machine.hypervisor.define(makeVm('vm-1', { revision: '2' }));
      expect(await domainOf('vm-1')).toMatchObject({ state: 'running', revision: '2', boot: '1' });
    });

    it('keep the order of a reset', async () => {
      await run(makeVm('vm-1'));
      await machine.hypervisor.reset('vm-1', '2');
      expect(await domainOf('vm-1')).toMatchObject({ state: 'running', boot: '2' });
    });

    it('end when their guest is asked to, and tell', async () => {
      await run(makeVm('vm-1'));
      const told = new Promise<string>((domainChanged) => {
        machine.hypervisor.watch({ domainChanged, serialLogGrew: () => {} });
      });
      await machine.hypervisor.askShutdown('vm-1');
      expect(await told).toBe('vm-1');
      await expect.poll(async () => (await domainOf('vm-1'))?.state).toBe('shutoff');
    });

    it('are powered off and forgotten, also when there is none', async () => {
      await run(makeVm('vm-1'));
      await expect(machine.hypervisor.undefine('vm-1')).rejects.toThrow();
      for (let times = 0; times < 2; times += 1) {
        await machine.hypervisor.powerOff('vm-1');
        await machine.hypervisor.undefine('vm-1');
      }
      expect(await machine.hypervisor.list()).toEqual([]);
      expect(await machine.hypervisor.readSerialLog('vm-1')).toBe('');
    });

    it('get, grow and lose disks while they run', async () => {
      await run(makeVm('vm-1'));
      const data = makeDisk('data');
      await machine.volumes.create(data, null);
      await machine.hypervisor.attachDisk('vm-1', data);
      await machine.hypervisor.attachDisk('vm-1', data);
      const grown = makeDisk('data', { sizeBytes: String(2 * GIB) });
      await expect(machine.volumes.grow(grown)).rejects.toThrow();
      await machine.hypervisor.growDisk('vm-1', grown);
      expect((await domainOf('vm-1'))?.disks[1]).toEqual({
        id: 'data',
        sizeBytes: String(2 * GIB),
      });
      await machine.hypervisor.detachDisk('vm-1', 'data');
      await machine.hypervisor.detachDisk('vm-1', 'data');
      expect((await domainOf('vm-1'))?.disks).toHaveLength(1);
    });

    it('print to a log that can be read', async () => {
      await run(makeVm('vm-1'));
      await expect.poll(() => machine.hypervisor.readSerialLog('vm-1')).not.toBe('');
    });
  });

  it('the firewall is in force as a whole, or not', async () => {
    const firewall = { rules: [makeRule('a')], nics: [makeNic('n')] };
    expect(await machine.network.isInForce(firewall)).toBe(false);
    await machine.network.applyFirewall(firewall);
    expect(await machine.network.isInForce(firewall)).toBe(true);
    expect(await machine.network.isInForce({ ...firewall, rules: [] })).toBe(false);
  });

  it('interfaces and seeds are made and removed, also again', async () => {
    const vm = makeVm('vm-1');
    await prepare(vm);
    await prepare(vm);
    for (let times = 0; times < 2; times += 1) {
      await machine.network.removeNics('vm-1');
      await machine.seeds.remove('vm-1');
    }
  });

  it('the boot id stays while the host runs, and the inventory names its devices', async () => {
    expect(await machine.readBootId()).toBe(await machine.readBootId());
    const { gpus = [], nvmes = [] } = await machine.readInventory();
    expect(gpus.map(({ pci }) => pci?.address)).toEqual(expect.arrayContaining([...under.gpus]));
    expect(nvmes.map(({ pci }) => pci?.address)).toContain(under.nvme);
  });
}
