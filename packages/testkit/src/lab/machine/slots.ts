/**
 * What is plugged into a lab's machine. Each slot is a root port of its own, with one or more
 * functions of one card, a drive, a bridge with cards behind it, or a switch with cards behind it.
 *
 * Cards behind a switch share an IOMMU group, because their root port has no access control services
 * (ACS), unless the slot is isolated. A switch without ACS is not enough: Linux 6.1 then gives each
 * port of the switch a group of its own if the root port has ACS, as it does with intel-iommu and
 * amd-iommu.
 */
export type LabSlot = {
  id: string;
  /** The NUMA node whose root complex has the slot. Absent: the root complex that has no node. */
  node?: number;
} & (
  | { functions: readonly string[] }
  | { drive: { serial: string; sizeBytes: number } }
  | { behindBridge: readonly string[] }
  | { behindSwitch: readonly string[]; isIsolated?: boolean }
);

/** The inventory counts whole gigabytes, so this is the smallest drive that it does not round to 0. */
const DRIVE_BYTES = 1024 ** 3;

/** Emulated cards by QEMU's names, without their boot ROMs, which nothing here runs. */
const ATI = 'ati-vga,romfile=';
const VIRTIO_GPU = 'virtio-gpu-pci,romfile=,iommu_platform=on,disable-legacy=on';
const BOCHS = 'bochs-display,romfile=';

export const DEFAULT_SLOTS: readonly LabSlot[] = [
  { id: 'drive0', drive: { serial: 'LAB-NVME-0', sizeBytes: DRIVE_BYTES } },
  { id: 'drive1', drive: { serial: 'LAB-NVME-1', sizeBytes: DRIVE_BYTES } },
  { id: 'edu', functions: ['edu'] },
  { id: 'bochs', functions: [BOCHS] },
  { id: 'virtio', functions: [VIRTIO_GPU] },
  { id: 'ati', functions: [ATI, 'intel-hda'] },
  { id: 'shared', behindBridge: ['edu', 'edu'] },
];

/** The first bus of a node's root complex. The next node's is as far away. */
const BUSES_PER_NODE = 64;

/** QEMU's arguments for the root complexes of NUMA nodes. */
export function rootComplexArguments(nodes: number): string[] {
  return Array.from({ length: nodes }, (_, node) => {
    const place = `bus=pcie.0,bus_nr=${firstBus({ node })},numa_node=${node}`;
    return ['-device', `pxb-pcie,id=${rootBus({ node })},${place}`];
  }).flat();
}

function rootBus({ node }: { node?: number }): string {
  return node === undefined ? 'pcie.0' : `node${node}`;
}

function firstBus({ node }: { node?: number }): number {
  return node === undefined ? 0 : (node + 1) * BUSES_PER_NODE;
}

/** The first root port's slot on the root bus. The machine's own devices have the lower slots. */
const FIRST_PORT = 8;

export type SlotArguments = {
  /** QEMU's arguments for the ports, bridges and switches, and for the files of the drives. */
  fixed: string[];
  /** The values of `-device` for the cards and drives. The first function of a card comes last. */
  cards: string[];
};

/** `driveFile` returns the file with a drive's content. */
export function slotArguments(
  slots: readonly LabSlot[],
  driveFile: (id: string) => string,
): SlotArguments {
  const all = slots.map((slot, index) => {
    const port = `${slot.id}-port`;
    const number = index + 1;
    const addr = `addr=${(FIRST_PORT + index).toString(16)}.0`;
    const place = `bus=${rootBus(slot)},chassis=${number},slot=${number},${addr}`;
    const isShared = 'behindSwitch' in slot && !slot.isIsolated;
    const isolation = isShared ? ',disable-acs=on' : '';
    const { fixed, cards } = inSlot(slot, { port, driveFile });
    return {
      fixed: ['-device', `pcie-root-port,id=${port},${place}${isolation}`, ...fixed],
      cards,
    };
  });
  return {
    fixed: all.flatMap(({ fixed }) => fixed),
    cards: all.flatMap(({ cards }) => cards),
  };
}

function inSlot(
  slot: LabSlot,
  { port, driveFile }: { port: string; driveFile: (id: string) => string },
): SlotArguments {
  if ('drive' in slot) {
    const file = `file=${driveFile(slot.id)},format=raw,cache=unsafe,discard=unmap`;
    const drive = `nvme,id=${slot.id},bus=${port},drive=${slot.id}-file,serial=${slot.drive.serial}`;
    return { fixed: ['-drive', `if=none,id=${slot.id}-file,${file}`], cards: [drive] };
  }
  if ('behindBridge' in slot) {
    const bridge = `${slot.id}-bridge`;
    return {
      fixed: ['-device', `pcie-pci-bridge,id=${bridge},bus=${port}`],
      cards: slot.behindBridge.map(
        (card, index) => `${card},id=${slot.id}.${index},bus=${bridge},addr=${index + 1}`,
      ),
    };
  }
  if ('behindSwitch' in slot) {
    const up = `${slot.id}-up`;
    const down = (index: number) => `${slot.id}-down${index}`;
    const ports = slot.behindSwitch.map(
      (_, index) =>
        `xio3130-downstream,id=${down(index)},bus=${up},chassis=${100 + index},slot=${index}`,
    );
    return {
      fixed: [`x3130-upstream,id=${up},bus=${port}`, ...ports].flatMap((it) => ['-device', it]),
      cards: slot.behindSwitch.map(
        (card, index) => `${card},id=${slot.id}.${index},bus=${down(index)}`,
      ),
    };
  }
  const many = slot.functions.length > 1 ? ',multifunction=on' : '';
  const functions = slot.functions.map(
    (card, index) =>
      `${card},id=${nameOf(slot.id, index)},bus=${port},addr=0.${index}${index === 0 ? many : ''}`,
  );
  return { fixed: [], cards: functions.reverse() };
}

/** QEMU's id of a function, for `unplug`. The first function has the slot's id. */
function nameOf(slotId: string, index: number): string {
  return index === 0 ? slotId : `${slotId}.${index}`;
}

/**
 * PCI addresses by slot. Buses are numbered in the order of the ports of a root complex, including
 * bridges.
 */
export function slotAddresses(slots: readonly LabSlot[], domain = 0): Map<string, string[]> {
  const lastBuses = new Map<string, number>();
  const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0');
  return new Map(
    slots.map((slot) => {
      const root = rootBus(slot);
      const port = (lastBuses.get(root) ?? firstBus(slot)) + 1;
      const places = placesBehind(slot);
      lastBuses.set(root, port + Math.max(...places.map(({ bus }) => bus)));
      const address = ({ bus, device, fn }: Place) =>
        `${hex(domain, 4)}:${hex(port + bus, 2)}:${hex(device, 2)}.${fn}`;
      return [slot.id, places.map(address)];
    }),
  );
}

/** `bus` counts from the bus of the slot's root port. */
type Place = { bus: number; device: number; fn: number };

function placesBehind(slot: LabSlot): Place[] {
  if ('behindBridge' in slot) {
    return slot.behindBridge.map((_, index) => ({ bus: 1, device: index + 1, fn: 0 }));
  }
  if ('behindSwitch' in slot) {
    // The switch has a bus of its own and one for each of its ports.
    return slot.behindSwitch.map((_, index) => ({ bus: index + 2, device: 0, fn: 0 }));
  }
  const functions = 'functions' in slot ? slot.functions : ['nvme'];
  return functions.map((_, index) => ({ bus: 0, device: 0, fn: index }));
}
