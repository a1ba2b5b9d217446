import type { CardDefinition } from './domain-definition.ts';
import { element, type XmlElement } from './xml.ts';

/**
 * One host device for each function. Not managed: the agent binds and cleans cards itself, and
 * libvirt would give one back to a host driver whenever its domain ends.
 */
export function cardElements(card: CardDefinition, bus: number): XmlElement[] {
  return card.functions.map((address, index) =>
    element('hostdev', { mode: 'subsystem', type: 'pci', managed: 'no' }, [
      element('driver', { name: 'vfio' }),
      element('source', {}, [element('address', partsOf(address))]),
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

/** 0000:41:00.0 */
function partsOf(address: string): Record<string, string> {
  const [domain = '', bus = '', rest = ''] = address.split(':');
  const [slot = '', fn = ''] = rest.split('.');
  return { domain: `0x${domain}`, bus: `0x${bus}`, slot: `0x${slot}`, function: `0x${fn}` };
}
