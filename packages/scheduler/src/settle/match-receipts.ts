import type { Receipt } from '@gantry/db/queries/settle/release-vm';
import type { PlacedVmRow } from '@gantry/db/queries/settle/settle-vms';
import { PROPERTY_STATES, type ReceiptProperty } from '@gantry/model/receipt-property';
import { type DeviceReceipt, printable } from '../attached/host-report.ts';

/**
 * Returns the receipts for devices of the VM. Without a receipt it is unknown whether a device is clean.
 * A receipt is valid only for the take-down with the same revision.
 */
export function matchReceipts(
  vm: Pick<PlacedVmRow, 'id' | 'revision' | 'devices'>,
  receipts: readonly DeviceReceipt[],
): Receipt[] {
  const matched: Receipt[] = [];
  for (const device of vm.devices) {
    const receipt = receipts.find(
      (one) =>
        one.vmId === vm.id &&
        one.revision === vm.revision &&
        one.pciAddress === device.pci_address &&
        one.kind === device.kind,
    );
    if (!receipt) continue;
    matched.push({
      device,
      serial: printable(receipt.serial),
      method: printable(receipt.method),
      finishedAt: new Date(Number(receipt.finishedMs)),
      failure: receipt.failure && {
        code: printable(receipt.failure.code),
        message: printable(receipt.failure.message),
      },
      properties: readProperties(receipt),
    });
  }
  return matched;
}

/** A host reports a few properties. One that reports more is wrong, and must not fill the database. */
const MAX_PROPERTIES = 32;
const MAX_LENGTH = 500;

/** A state that this scheduler does not know proves nothing to it. */
function readProperties({ properties = [] }: Partial<DeviceReceipt>): ReceiptProperty[] {
  const short = (text: string) => printable(text).slice(0, MAX_LENGTH);
  return properties.slice(0, MAX_PROPERTIES).map(({ name, state, detail }) => ({
    name: short(name),
    state: PROPERTY_STATES.find((known) => known === state) ?? 'not_verified',
    detail: short(detail),
  }));
}
