import { BOOT_SATA, MANAGEMENT_SCREEN } from './cards.ts';
import { NODES, type PciCard, type ServerModel } from './server-model.ts';

/**
 * The PCI layout of a server model. A socket has four root buses, like an EPYC:
 *
 *   0     the network card; on the first socket the screen and the boot drives too
 *   1, 2  a switch each: root port, upstream port, one downstream port for each GPU
 *   3     the other devices for VMs, such as NVMe drives, each below a root port
 */
export type PciFunction = {
  address: string;
  /** The path below the root of sysfs. It contains the bridges above the device. */
  path: string;
  numaNode: number;
  card: PciCard;
  /** Only the functions of one device share a group. */
  iommuGroup: number;
  isGpu?: true;
};

type Unnumbered = Omit<PciFunction, 'iommuGroup'>;
type Place = { parent: string; numaNode: number };

const BUSES_PER_NODE = 0x80;
const BUSES_PER_ROOT = 0x20;
const FIRST_SWITCH_ROOT = 1;
const COMPANIONS_ROOT = 3;
/** Broadcom's switches number their ports in steps, one per group of lanes. */
const DEVICES_PER_PORT = 4;
const BRIDGE_CLASS = '060400';

export function pciFunctionsOf(model: ServerModel): PciFunction[] {
  return numberGroups(NODES.flatMap((node) => functionsOfNode(model, node)));
}

/** PCI addresses of the GPUs at the ends of each bridge. */
export function nvlinkPairsOf(model: ServerModel): [string, string][] {
  if (!model.nvlinkBridged) return [];
  const gpus = pciFunctionsOf(model).filter(({ isGpu }) => isGpu);
  const pairs: [string, string][] = [];
  let next = 0;
  for (const count of NODES.flatMap(() => model.gpusBySwitch)) {
    for (let i = 0; i + 1 < count; i += 2) {
      const [one, other] = gpus.slice(next + i);
      if (one && other) pairs.push([one.address, other.address]);
    }
    next += count;
  }
  return pairs;
}

function functionsOfNode(model: ServerModel, numaNode: number): Unnumbered[] {
  const rootBus = (root: number) => numaNode * BUSES_PER_NODE + root * BUSES_PER_ROOT;
  const below = (root: number, cards: readonly PciCard[]) =>
    belowRootPorts({ model, numaNode, bus: rootBus(root), cards });
  const ofHost = numaNode === 0 ? [MANAGEMENT_SCREEN, BOOT_SATA] : [];
  return [
    ...below(0, [model.nic, ...ofHost]),
    ...model.gpusBySwitch.flatMap((gpus, i) =>
      behindSwitch({ model, numaNode, bus: rootBus(FIRST_SWITCH_ROOT + i), gpus }),
    ),
    ...below(COMPANIONS_ROOT, model.companionsPerNode),
  ];
}

function belowRootPorts(given: {
  model: ServerModel;
  numaNode: number;
  bus: number;
  cards: readonly PciCard[];
}): Unnumbered[] {
  const { model, numaNode, bus, cards } = given;
  const root = { parent: rootPath(bus), numaNode };
  return cards.flatMap((card, i) => {
    const port = at(root, addressOf(bus, 1, i + 1), { card: model.rootPort });
    return [port, at({ parent: port.path, numaNode }, addressOf(bus + 1 + i, 0, 0), { card })];
  });
}

function behindSwitch(given: {
  model: ServerModel;
  numaNode: number;
  bus: number;
  gpus: number;
}): Unnumbered[] {
  const { model, numaNode, bus, gpus } = given;
  const rootPort = at({ parent: rootPath(bus), numaNode }, addressOf(bus, 1, 1), {
    card: model.rootPort,
  });
  const upstream = at({ parent: rootPort.path, numaNode }, addressOf(bus + 1, 0, 0), {
    card: model.switchPort,
  });
  const functions = [rootPort, upstream];
  for (let i = 0; i < gpus; i += 1) {
    const port = at(
      { parent: upstream.path, numaNode },
      addressOf(bus + 2, i * DEVICES_PER_PORT, 0),
      {
        card: model.switchPort,
      },
    );
    const slot = { parent: port.path, numaNode };
    const { audio } = model.gpu;
    functions.push(port, at(slot, addressOf(bus + 3 + i, 0, 0), { card: model.gpu, isGpu: true }));
    if (audio) functions.push(at(slot, addressOf(bus + 3 + i, 0, 1), { card: audio }));
  }
  return functions;
}

function at(
  { parent, numaNode }: Place,
  address: string,
  device: Omit<Unnumbered, 'address' | 'path' | 'numaNode'>,
): Unnumbered {
  return { ...device, address, path: `${parent}/${address}`, numaNode };
}

function numberGroups(functions: Unnumbered[]): PciFunction[] {
  const groups = new Map<string, number>();
  return functions.map((one) => {
    // Ports are functions of one device too, but ACS isolates them from each other.
    const isPort = one.card.class === BRIDGE_CLASS;
    const member = isPort ? one.address : one.address.slice(0, -'.0'.length);
    const iommuGroup = groups.get(member) ?? groups.size;
    groups.set(member, iommuGroup);
    return { ...one, iommuGroup };
  });
}

function rootPath(bus: number): string {
  return `devices/pci0000:${hex(bus)}`;
}

function addressOf(bus: number, device: number, fn: number): string {
  return `0000:${hex(bus)}:${hex(device)}.${fn}`;
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}
