import type { Receipt } from '@gantry/db/queries/settle/release-vm';
import type { PlacedVmRow } from '@gantry/db/queries/settle/settle-vms';
import { type DeviceReceipt, printable } from '../attached/host-report.ts';

/**
 * Returns the receipt for each device of the VM, or null if one is missing, because it is then unknown
 * whether that device is clean. A receipt is valid only for the take-down with the same revision.
 */
export function matchReceipts(
  vm: Pick<PlacedVmRow, 'id' | 'revision' | 'devices'>,
  receipts: readonly DeviceReceipt[],
): Receipt[] | null {
  const matched: Receipt[] = [];
  for (const device of vm.devices) {
    const receipt = receipts.find(
      (one) =>
        one.vmId === vm.id &&
        one.revision === vm.revision &&
        one.pciAddress === device.pci_address &&
        one.kind === device.kind,
    );
    if (!receipt) return null;
    matched.push({
      device,
      serial: printable(receipt.serial),
      method: printable(receipt.method),
      finishedAt: new Date(Number(receipt.finishedMs)),
      failure: receipt.failure && {
        code: printable(receipt.failure.code),
        message: printable(receipt.failure.message),
      },
    });
  }
  return matched;
}
