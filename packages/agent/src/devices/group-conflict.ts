import { isBridge, type PciFunction, slotOf, VFIO_DRIVER } from './pci/pci-function.ts';

/** Drivers that leave a device alone, so that the rest of its group can be handed over. */
const IDLE_DRIVERS = new Set(['', VFIO_DRIVER, 'pci-stub']);

type Card = {
  functions: readonly PciFunction[];
  /** Every member of their groups. */
  members: readonly PciFunction[];
  /** The other devices of the same VM. */
  companions: readonly string[];
};

/**
 * Why a card cannot leave the host without something else that is in one IOMMU group with it, or
 * null. Devices of a group can reach each other's memory: they go together or not at all. Bridges
 * carry no data of their own, and what goes to the same VM may share.
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
