import type { VmSpec } from '@gantry/agent/spec';
import type { SimulatedHostDriver } from '../driver/simulated-host-driver.ts';

/** Brings a VM up without an agent. */
export async function runAlone(driver: SimulatedHostDriver, vm: VmSpec): Promise<void> {
  for (const disk of vm.disks) await driver.volumes.create(disk, null);
  await driver.seeds.ensure(vm);
  const before = driver.network.firewall ?? { rules: [], interfaces: [] };
  await driver.network.applyFirewall({
    ...before,
    interfaces: [...before.interfaces, ...vm.interfaces],
  });
  await driver.network.ensureInterfaces(vm.id, vm.interfaces);
  for (const device of vm.devices) await driver.devices.bind({ vmId: vm.id, ...device });
  await driver.hypervisor.define(vm);
  await driver.hypervisor.start(vm.id, vm.generation);
}
