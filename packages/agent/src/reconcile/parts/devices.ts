import type { DeviceKind } from '@gantry/model/host-states';
import type { DeviceReceipt__Output } from '@gantry/proto/generated/gantry/v1/DeviceReceipt';
import type { Cleaning, Device } from '../../host-driver.ts';
import type { DeviceRef, VmTakeDown } from '../../spec.ts';
import type { HostContext } from '../host-context.ts';
import type { Part } from './part.ts';

/**
 * The devices of one kind. They are passed through whole, and afterwards cleaned and verified: each
 * cleaning leaves a receipt.
 */
export function devicePart(kind: DeviceKind): Part {
  const ofKind = (devices: readonly DeviceRef[]) =>
    devices.filter((device) => device.kind === kind).map(({ address }) => address);
  return {
    name: kind,

    async ensure(host, vm) {
      const companions = vm.devices.map(({ address }) => address);
      for (const address of ofKind(vm.devices)) {
        await host.driver.devices.bind({ vmId: vm.id, kind, address }, companions);
      }
    },

    async remove(host, vm) {
      for (const address of await devicesToClean(host, vm, { kind, named: ofKind(vm.devices) })) {
        const cleaning = await host.driver.devices.release({ vmId: vm.id, kind, address });
        await keepReceipt(host, vm, { device: { vmId: vm.id, kind, address }, cleaning });
      }
    },
  };
}

/**
 * Returns the devices that the entry names or that the host has assigned to the VM, without those
 * that have a receipt: a restart of the agent must not erase a drive again.
 */
async function devicesToClean(
  host: HostContext,
  vm: VmTakeDown,
  { kind, named }: { kind: DeviceKind; named: readonly string[] },
): Promise<string[]> {
  const bound = (await host.driver.devices.list())
    .filter((device) => device.vmId === vm.id && device.kind === kind)
    .map((device) => device.address);
  const { receipts } = host.ledger.facts(vm.id);
  const cleaned = receipts.filter((receipt) => receipt.revision === vm.revision);
  const done = new Set(cleaned.map((receipt) => receipt.pciAddress));
  return [...new Set([...named, ...bound])].filter((address) => !done.has(address));
}

async function keepReceipt(
  host: HostContext,
  vm: VmTakeDown,
  { device, cleaning }: { device: Device; cleaning: Cleaning },
): Promise<void> {
  const now = String(host.clock.nowMs());
  const receipt: DeviceReceipt__Output = {
    vmId: vm.id,
    revision: vm.revision,
    kind: device.kind,
    pciAddress: device.address,
    serial: cleaning.serial,
    method: cleaning.method,
    finishedMs: now,
    failure: cleaning.failure && { ...cleaning.failure, sinceMs: now },
  };
  const others = host.ledger
    .facts(vm.id)
    .receipts.filter(({ pciAddress }) => pciAddress !== device.address);
  await host.ledger.updateFacts(vm.id, { receipts: [...others, receipt] });
  host.changed();
}
