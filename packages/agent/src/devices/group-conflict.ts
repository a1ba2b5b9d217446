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
 * Returns the other device of a card's IOMMU group because of which the card cannot be assigned, or
 * null. Devices of one group can reach each other's memory, so they are assigned together or not at
 * all. Bridges hold no data, and devices of the same VM may share a group.
 */
export function groupConflict({ functions, members, companions }: Card): PciFunction | null {
  const going = new Set([...functions.map(({ address }) => address), ...companions].map(slotOf));
  const isInTheWay = (member: PciFunction) =>
    !going.has(slotOf(member.address)) && !isBridge(member) && !IDLE_DRIVERS.has(member.driver);
  return members.find(isInTheWay) ?? null;
}
