import { isBridge, type PciFunction, slotOf, VFIO_DRIVER } from './pci/pci-function.ts';

/** Drivers that do not use a device, so that the rest of its group can be assigned. */
const IDLE_DRIVERS = new Set(['', VFIO_DRIVER, 'pci-stub']);

type Card = {
  functions: readonly PciFunction[];
  /** Every member of the functions' IOMMU groups. */
  members: readonly PciFunction[];
  /** The other devices of the same VM. */
  companions: readonly string[];
};

/**
 * Returns the reason why a card cannot be assigned without another device of its IOMMU group, or
 * null. Devices of one group can reach each other's memory, so they are assigned together or not at
 * all. Bridges hold no data, and devices of the same VM may share a group.
 */
export function groupConflict({ functions, members, companions }: Card): string | null {
  const going = new Set([...functions.map(({ address }) => address), ...companions].map(slotOf));
  for (const member of members) {
    if (going.has(slotOf(member.address)) || isBridge(member)) continue;
    if (IDLE_DRIVERS.has(member.driver)) continue;
    const [main] = functions;
    return (
      `${main?.address} cannot be handed over alone: ${member.address} is in IOMMU group ` +
      `${member.group} with it and in use by the host's driver ${member.driver}`
    );
  }
  return null;
}
