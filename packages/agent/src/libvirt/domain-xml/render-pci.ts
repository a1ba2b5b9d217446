import { element, type XmlElement } from '../../base/xml.ts';
import { type CardDefinition, DISK_SLOTS } from './domain-definition.ts';

/**
 * The PCI addresses of a guest's devices. The agent chooses all of them, because libvirt would
 * choose others when a disk is added or removed: devices keep their addresses, interfaces keep
 * their names, and a disk that was attached to a running guest has the same address after the next
 * start. Bus 0 has the root ports, eight per slot; each root port is a bus with one device. A host
 * node with cards has an expander bus with a root port for each card. Cards that share a switch on the
 * host have one root port with a switch, and each a port of that switch.
 */
export const PCI_BUS = { serial: 1, rng: 2, seed: 3, firstDisk: 4, firstInterface: 4 + DISK_SLOTS };

/** Slots of bus 0: the root ports begin after the host bridge, the expanders end before q35's own. */
const FIRST_PORT_SLOT = 1;
const FIRST_EXPANDER_SLOT = 0x10;
const PORTS_PER_SLOT = 8;
/** Bus numbers of expanders are given from above, those of the other ports are found from below. */
const BUS_NUMBERS = 256;

export type PciPlan = {
  controllers: XmlElement[];
  /** The bus of each card, in the cards' order. */
  cardBuses: number[];
};

export function planPci(guest: {
  interfaceCount: number;
  cards: readonly CardDefinition[];
  mmio64Mib: number;
}): PciPlan {
  const near = guest.cards.filter((card) => card.cell !== null);
  const fixedPorts = PCI_BUS.firstInterface + guest.interfaceCount - 1;
  const loose = portsOf(guest.cards.filter(({ cell }) => cell === null));
  const controllers = [renderRoot(guest.mmio64Mib)];
  const buses = new Map<CardDefinition, number>();

  /** Puts each port's card, or a switch with the port's cards, on the bus of its root port. */
  const fill = (ports: readonly CardDefinition[][], firstBus: number) => {
    for (const [order, cards] of ports.entries()) {
      const [alone, ...others] = cards;
      if (alone && others.length === 0) {
        buses.set(alone, firstBus + order);
        continue;
      }
      const upstream = controllers.length;
      controllers.push(renderUpstream({ index: upstream, bus: firstBus + order }));
      for (const [slot, card] of cards.entries()) {
        buses.set(card, controllers.length);
        controllers.push(renderDownstream({ index: controllers.length, upstream, slot }));
      }
    }
  };

  for (let index = 1; index <= fixedPorts; index += 1) controllers.push(renderPort({ index }));
  const firstLoose = controllers.length;
  for (const _ of loose) {
    controllers.push(renderPort({ index: controllers.length, hotplug: false }));
  }
  fill(loose, firstLoose);
  const lowBuses = controllers.length - 1;

  let busNumber = BUS_NUMBERS;
  const cells = [...new Set(near.map(({ cell }) => cell ?? 0))].sort((a, b) => a - b);
  for (const [order, cell] of cells.entries()) {
    const cards = near.filter((card) => card.cell === cell);
    const ports = portsOf(cards);
    busNumber -= 1 + ports.reduce((sum, { length }) => sum + busesOf(length), 0);
    const expander = controllers.length;
    controllers.push(renderExpander({ index: expander, order, cell, busNumber }));
    for (const slot of ports.keys()) {
      controllers.push(renderCardPort({ index: controllers.length, expander, slot }));
    }
    fill(ports, expander + 1);
  }
  assertRoom({ rootPorts: fixedPorts + loose.length, lowBuses, busNumber });
  return { controllers, cardBuses: guest.cards.map((card) => buses.get(card) ?? 0) };
}

/** The cards of each root port: one, or all that share a switch. */
function portsOf(cards: readonly CardDefinition[]): CardDefinition[][] {
  const ports = new Map<CardDefinition | number, CardDefinition[]>();
  for (const card of cards) {
    const key = card.guestSwitch ?? card;
    ports.set(key, [...(ports.get(key) ?? []), card]);
  }
  return [...ports.values()];
}

/** The buses below a root port: its own, and with a switch that of the switch and of each card. */
const busesOf = (cards: number) => (cards === 1 ? 1 : 2 + cards);

function assertRoom(used: { rootPorts: number; lowBuses: number; busNumber: number }): void {
  const lastSlot = FIRST_PORT_SLOT + Math.floor((used.rootPorts - 1) / PORTS_PER_SLOT);
  if (lastSlot >= FIRST_EXPANDER_SLOT || used.busNumber <= used.lowBuses) {
    throw new RangeError(`a guest's PCI buses have no room for ${used.rootPorts} root ports`);
  }
}

/** The address of the only device on a bus. */
export function renderAddress(bus: number, at: { slot?: number; function?: string } = {}) {
  return element('address', {
    type: 'pci',
    domain: '0x0000',
    bus: hex(bus, 2),
    slot: hex(at.slot ?? 0, 2),
    function: at.function ?? '0x0',
  });
}

function renderRoot(mmio64Mib: number): XmlElement {
  const window =
    mmio64Mib > 0 ? element('pcihole64', { unit: 'KiB' }, String(mmio64Mib * 1_024)) : null;
  return element('controller', { type: 'pci', index: 0, model: 'pcie-root' }, [window]);
}

function renderPort({ index, hotplug = true }: { index: number; hotplug?: boolean }): XmlElement {
  const slot = FIRST_PORT_SLOT + Math.floor((index - 1) / PORTS_PER_SLOT);
  const fn = (index - 1) % PORTS_PER_SLOT;
  return element('controller', { type: 'pci', index, model: 'pcie-root-port' }, [
    element('target', {
      chassis: index,
      port: hex(slot * PORTS_PER_SLOT + fn, 1),
      ...(!hotplug && { hotplug: 'off' }),
    }),
    element('address', {
      type: 'pci',
      domain: '0x0000',
      bus: '0x00',
      slot: hex(slot, 2),
      function: hex(fn, 1),
      ...(fn === 0 && { multifunction: 'on' }),
    }),
  ]);
}

type Expander = { index: number; order: number; cell: number; busNumber: number };

function renderExpander({ index, order, cell, busNumber }: Expander): XmlElement {
  return element('controller', { type: 'pci', index, model: 'pcie-expander-bus' }, [
    element('target', { busNr: busNumber }, [element('node', {}, String(cell))]),
    renderAddress(0, { slot: FIRST_EXPANDER_SLOT + order }),
  ]);
}

/** Without hotplug: a card comes and goes with its VM, and the firmware reserves nothing for it. */
function renderCardPort(port: { index: number; expander: number; slot: number }): XmlElement {
  return element('controller', { type: 'pci', index: port.index, model: 'pcie-root-port' }, [
    element('target', { chassis: port.index, port: hex(port.slot, 1), hotplug: 'off' }),
    renderAddress(port.expander, { slot: port.slot }),
  ]);
}

function renderUpstream({ index, bus }: { index: number; bus: number }): XmlElement {
  const model = 'pcie-switch-upstream-port';
  return element('controller', { type: 'pci', index, model }, [renderAddress(bus)]);
}

function renderDownstream(port: { index: number; upstream: number; slot: number }): XmlElement {
  const model = 'pcie-switch-downstream-port';
  return element('controller', { type: 'pci', index: port.index, model }, [
    element('target', { chassis: port.index, port: hex(port.slot, 1), hotplug: 'off' }),
    renderAddress(port.upstream, { slot: port.slot }),
  ]);
}

function hex(value: number, digits: number): string {
  return `0x${value.toString(16).padStart(digits, '0')}`;
}
