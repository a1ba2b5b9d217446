import { PCI_ADDRESS } from '../../pci/pci-bridges.ts';
import type { PciDevice } from '../../pci/pci-device.ts';

/** PCI addresses of two GPUs that an NVLink bridge joins. */
export type NvlinkPair = readonly [string, string];

/**
 * Parses "0000:41:00.0-0000:42:00.0,…" or "none". The operator sets it, because the kernel does not
 * know the bridges on top of PCIe cards. Throws if a pair has one card twice, or if a card is in two pairs.
 */
export function parseNvlinkPairs(text: string): NvlinkPair[] {
  if (text.trim() === 'none') return [];
  const seen = new Set<string>();
  return text.split(',').map((part) => {
    const [one, other, ...rest] = part.trim().toLowerCase().split('-');
    if (one === undefined || other === undefined || rest.length > 0)
      throw new Error(`"${part}" is not two PCI addresses with a dash between them`);
    for (const address of [one, other]) {
      if (!PCI_ADDRESS.test(address)) throw new Error(`"${address}" is not a PCI address`);
      if (seen.has(address)) throw new Error(`${address} is named twice`);
      seen.add(address);
    }
    return [one, other];
  });
}

/** A pair is ignored if one end is not a GPU of this host: the card may have fallen off the bus. */
export function joinPairs(
  devices: readonly PciDevice[],
  pairs: readonly NvlinkPair[],
  warn: (message: string) => void,
): { pci: PciDevice; nvlinkPeer: string }[] {
  const addresses = new Set(devices.map(({ address }) => address));
  const peers = new Map<string, string>();
  for (const [one, other] of pairs) {
    const missing = [one, other].filter((address) => !addresses.has(address));
    if (missing.length > 0) {
      warn(`no NVLink between ${one} and ${other}: no GPU at ${missing.join(' and ')}`);
      continue;
    }
    peers.set(one, other);
    peers.set(other, one);
  }
  return devices.map((pci) => ({ pci, nvlinkPeer: peers.get(pci.address) ?? '' }));
}
