import type { DeviceReceipt__Output } from '@gantry/proto/generated/gantry/v1/DeviceReceipt';
import type { Cleaning, Device, DeviceKind } from '../../host-driver.ts';
import type { DeletedVm } from '../../spec.ts';
import type { HostContext } from '../host-context.ts';
import type { Part } from './part.ts';

/** The graphics cards: handed over whole, reset and verified afterwards. */
export const gpus: Part = devicePart('gpu', 'gpus');
/** The drives: handed over whole, erased afterwards. */
export const nvmes: Part = devicePart('nvme', 'nvmes');

function devicePart(kind: DeviceKind, field: 'gpus' | 'nvmes'): Part {
  return {
    name: field,

    async ensure(host, vm) {
      for (const address of vm[field]) {
        await host.driver.devices.bind({ vmId: vm.id, kind, address }, [...vm.gpus, ...vm.nvmes]);
      }
    },

    async remove(host, vm) {
      for (const address of await devicesToClean(host, vm, { kind, named: vm[field] })) {
        const cleaning = await host.driver.devices.release({ vmId: vm.id, kind, address });
        await keepReceipt(host, vm, { device: { vmId: vm.id, kind, address }, cleaning });
      }
    },
  };
}

/**
 * Those the entry names and those the host says the VM has, less those with a receipt: a drive is
 * not erased again because the agent was restarted.
 */
async function devicesToClean(
  host: HostContext,
  vm: DeletedVm,
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
  vm: DeletedVm,
  { device, cleaning }: { device: Device; cleaning: Cleaning },
): Promise<void> {
  const now = String(host.clock.nowMs());
  const receipt: DeviceReceipt__Output = {
    vmId: vm.id,
    revision: vm.revision,
    kind: device.kind === 'gpu' ? 'DEVICE_KIND_GPU' : 'DEVICE_KIND_NVME',
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
