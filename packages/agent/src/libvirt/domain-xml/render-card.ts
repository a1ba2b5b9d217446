import { element, type XmlElement } from '../../base/xml.ts';
import type { HandedOver } from '../../devices/card-places.ts';
import type { CardDefinition, GuestPeers } from './domain-definition.ts';
import { renderAddress } from './render-pci.ts';

/** Behind every disk that comes and goes, and before the seed: vdq, vdr and so on. */
const FIRST_DRIVE_LETTER = 'q'.charCodeAt(0);

/** What a card or drive is in the guest, on a bus of its own. */
export function cardElements(
  card: CardDefinition,
  at: { bus: number; driveIndex: number },
): XmlElement[] {
  if ('functions' in card) return handedOverElements(card, at.bus);
  const target = `vd${String.fromCharCode(FIRST_DRIVE_LETTER + at.driveIndex)}`;
  return [
    element('disk', { type: 'block', device: 'disk' }, [
      element('driver', {
        ...{ name: 'qemu', type: 'raw', cache: 'none', io: 'native' },
        ...{ error_policy: 'report', discard: 'unmap' },
      }),
      element('source', { dev: card.path }),
      element('target', { dev: target, bus: 'virtio' }),
      element('serial', {}, card.serial),
      renderAddress(at.bus),
    ]),
  ];
}

/**
 * One host device for each function. Not managed: the agent binds and cleans cards itself, and
 * libvirt would give one back to a host driver whenever its domain ends.
 */
function handedOverElements(card: HandedOver & GuestPeers, bus: number): XmlElement[] {
  return card.functions.map((address, index) =>
    element('hostdev', { mode: 'subsystem', type: 'pci', managed: 'no' }, [
      element('driver', { name: 'vfio' }),
      element('source', {}, [element('address', partsOf(address))]),
      index === 0 && card.clique !== null ? element('alias', { name: cliqueAlias(bus) }) : null,
      element('address', {
        type: 'pci',
        domain: '0x0000',
        bus: `0x${bus.toString(16).padStart(2, '0')}`,
        slot: '0x00',
        function: `0x${index}`,
        ...(index === 0 && card.functions.length > 1 && { multifunction: 'on' }),
      }),
    ]),
  );
}

/** libvirt accepts names of its users only with this prefix. */
const cliqueAlias = (bus: number) => `ua-peer-${bus}`;

/**
 * Sets QEMU's property for the clique of a card, for which libvirt has no element. libvirt before 8.2
 * ignores it, and the guest's GPUs then copy through memory.
 */
export function cliqueElements(cards: readonly { card: CardDefinition; bus: number }[]) {
  return cards.flatMap(({ card, bus }) =>
    card.clique === null
      ? []
      : element('qemu:device', { alias: cliqueAlias(bus) }, [
          element('qemu:frontend', {}, [
            element('qemu:property', {
              ...{ name: 'x-nv-gpudirect-clique', type: 'unsigned', value: card.clique },
            }),
          ]),
        ]),
  );
}

/** 0000:41:00.0 */
function partsOf(address: string): Record<string, string> {
  const [domain = '', bus = '', rest = ''] = address.split(':');
  const [slot = '', fn = ''] = rest.split('.');
  return { domain: `0x${domain}`, bus: `0x${bus}`, slot: `0x${slot}`, function: `0x${fn}` };
}
