/** 0000:41:00.0; a domain behind a storage controller has five digits. */
export const PCI_ADDRESS = /^[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$/;
/** pci0000:40, where a root bus begins. */
const ROOT_BUS = /^pci[0-9a-f]{4,}:[0-9a-f]{2}$/;

/**
 * The bridges between a device and its root bus, from where its link under bus/pci/devices points:
 * ../../../devices/pci0000:40/0000:40:01.1/0000:41:00.0/0000:42:00.0/0000:43:00.0
 *
 * A storage controller may have a root bus of its own for its drives (Intel's VMD). Only the
 * entries below the last root bus are bridges; the controller above it is not, see `controllerAbove`.
 */
export function bridgesAbove(devicePath: string): string[] {
  const parts = devicePath.split('/');
  const root = parts.findLastIndex((part) => ROOT_BUS.test(part));
  if (root < 0) return [];
  return parts.slice(root + 1, -1).filter((part) => PCI_ADDRESS.test(part));
}

/** The storage controller that has the device's root bus, or undefined if the host itself has it. */
export function controllerAbove(devicePath: string): string | undefined {
  const parts = devicePath.split('/');
  const root = parts.findLastIndex((part) => ROOT_BUS.test(part));
  const above = parts[root - 1];
  return root > 0 && above !== undefined && PCI_ADDRESS.test(above) ? above : undefined;
}
