import type { DeviceReceiptRow } from '@gantry/db/queries/hosts/device-receipts';

const PCI_ADDRESS = /\b[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]\b/gi;

/** Removes PCI addresses from the texts: the host wrote them for its operator, not for tenants. */
export function deviceReceiptView(row: DeviceReceiptRow) {
  return {
    id: row.id,
    kind: row.kind,
    serial: row.serial,
    vm_id: row.vm_id,
    method: row.method,
    finished_at: row.finished_at.toISOString(),
    failure_code: row.failure_code,
    failure_message: withoutAddresses(row.failure_message),
    properties: row.properties.map((property) => ({
      ...property,
      detail: withoutAddresses(property.detail),
    })),
  };
}

function withoutAddresses(text: string): string {
  return text.replaceAll(PCI_ADDRESS, 'the device');
}

export function operatorDeviceReceiptView(row: DeviceReceiptRow) {
  return {
    ...deviceReceiptView(row),
    device_id: row.device_id,
    host_id: row.host_id,
    pci_address: row.pci_address,
    project_id: row.project_id,
    failure_message: row.failure_message,
    properties: row.properties,
  };
}
