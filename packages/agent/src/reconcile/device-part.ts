import type { DeviceKind } from '@gantry/model/host-states';
import type { DeviceReceipt__Output } from '@gantry/proto/generated/gantry/v1/DeviceReceipt';
import type { Cleaning, Device } from '../host-driver.ts';
import type { VmSpec, VmTakeDown } from '../spec.ts';
import type { HostContext } from './host-context.ts';

/**
 * The devices of one kind. They are passed through whole, and afterwards cleaned: each cleaning leaves
 * a receipt that says what was verified.
 */
export function devicePart(kind: DeviceKind) {
  return {
    name: kind,

    async ensure(host: HostContext, vm: VmSpec): Promise<void> {
      const companions = vm.devices.map(({ address }) => address);
      for (const { address } of vm.devices.filter((device) => device.kind === kind)) {
        await host.driver.devices.bind({ vmId: vm.id, kind, address }, companions);
      }
    },

    /** A device that fails does not keep the others: the first failure is thrown at the end. */
    async remove(host: HostContext, vm: VmTakeDown): Promise<void> {
      const addresses = await devicesToClean(host, vm, kind);
      const releases = addresses.map((address) =>
        release(host, vm, { vmId: vm.id, kind, address }),
      );
      for (const outcome of await Promise.allSettled(releases)) {
        if (outcome.status === 'rejected') throw outcome.reason;
      }
    },
  };
}

async function release(host: HostContext, vm: VmTakeDown, device: Device): Promise<void> {
  const cleaning =
    (await heldByAnother(host, device)) ?? (await host.driver.devices.release(device));
  await keepReceipt(host, vm, { device, cleaning });
}

/**
 * Returns the devices that the entry names or that the host has assigned to the VM, without those
 * that have a receipt: a restart of the agent must not erase a drive again.
 */
async function devicesToClean(
  host: HostContext,
  vm: VmTakeDown,
  kind: DeviceKind,
): Promise<string[]> {
  const bound = (await host.driver.devices.list()).filter((device) => device.vmId === vm.id);
  const addresses = [...vm.devices, ...bound]
    .filter((device) => device.kind === kind)
    .map(({ address }) => address);
  const { receipts } = host.ledger.facts(vm.id);
  const cleaned = receipts.filter((receipt) => receipt.revision === vm.revision);
  const done = new Set(cleaned.map((receipt) => receipt.pciAddress));
  return [...new Set(addresses)].filter((address) => !done.has(address));
}

/**
 * After a restored backup, the entry may name a device that another VM has by now. It stays with that
 * VM. The receipt says so: the take-down ends, and the device is not proven clean.
 */
async function heldByAnother(host: HostContext, device: Device): Promise<Cleaning | null> {
  const { address, vmId } = device;
  const holder = (await host.driver.devices.list()).find((held) => held.address === address);
  if (!holder || holder.vmId === vmId) return null;
  const message = `${address} is in use by VM ${holder.vmId}`;
  return { serial: '', method: 'none', failure: { code: 'device_in_use', message } };
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
    properties: [...(cleaning.properties ?? [])],
  };
  // Devices are released at the same time: the receipts of the others are read when this is written.
  await host.ledger.changeFacts(vm.id, ({ receipts }) => ({
    receipts: [...receipts.filter(({ pciAddress }) => pciAddress !== device.address), receipt],
  }));
  host.changed();
}
