import type { VmSpec } from '@gantry/agent/spec';
import type { SimulatedMachine } from '../machine/simulated-machine.ts';

/** Brings a VM up behind any agent's back. */
export async function runAlone(machine: SimulatedMachine, vm: VmSpec): Promise<void> {
  for (const disk of vm.disks) await machine.volumes.create(disk, null);
  await machine.seeds.ensure(vm);
  const before = machine.network.firewall ?? { rules: [], nics: [] };
  await machine.network.applyFirewall({ ...before, nics: [...before.nics, ...vm.nics] });
  await machine.network.ensureNics(vm.id, vm.nics);
  for (const address of vm.gpus) {
    await machine.devices.bind({ vmId: vm.id, kind: 'gpu', address });
  }
  await machine.hypervisor.define(vm);
  await machine.hypervisor.start(vm.id, vm.boot);
}
