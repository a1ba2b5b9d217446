import { BOOT_SATA, MANAGEMENT_SCREEN } from './cards.ts';
import type { PciCard, ServerModel, ServerNode } from './server-model.ts';

/**
 * The PCI layout of a server model. A NUMA node has four root buses:
 *
 *   0     the network cards; on the first node the screen and the boot drives too
 *   1, 2  a switch each: root port, upstream port, one downstream port for each GPU; GPUs without a
 *         switch are below root ports of bus 1
 *   3     the other devices for VMs, such as NVMe drives, each below a root port
 */
export type PciFunction = {
  address: string;
  /** The path below the root of sysfs. It contains the bridges above the device. */
  path: string;
  numaNode: number;
  card: PciCard;
  /** Functions of one device share a group, and so do devices that no port isolates. */
  iommuGroup: number;
  isGpu?: true;
};

type Unnumbered = Omit<PciFunction, 'iommuGroup'> & {
  /** Devices with the same name share a group. Absent: only the functions of one device. */
  sharedGroup?: string;
};
type Place = { parent: string; numaNode: number };

const BUSES = 0x100;
const ROOTS_PER_NODE = 4;
const FIRST_GPU_ROOT = 1;
const COMPANIONS_ROOT = 3;
const FUNCTIONS_PER_DEVICE = 7;
/** Broadcom's switches number their ports in steps, one per group of lanes. */
const DEVICES_PER_PORT = 4;
const BRIDGE_CLASS = '060400';

export function pciFunctionsOf(model: ServerModel): PciFunction[] {
  return numberGroups(model.nodes.flatMap((node, i) => functionsOfNode(model, node, i)));
}

/** PCI addresses of the GPUs at the ends of each bridge. */
export function nvlinkPairsOf(model: ServerModel): [string, string][] {
  if (!model.nvlinkBridged) return [];
  const gpus = pciFunctionsOf(model).filter(({ isGpu }) => isGpu);
  const pairs: [string, string][] = [];
  let next = 0;
  for (const count of model.nodes.flatMap(gpuCounts)) {
    for (let i = 0; i + 1 < count; i += 2) {
      const [one, other] = gpus.slice(next + i);
      if (one && other) pairs.push([one.address, other.address]);
    }
    next += count;
  }
  return pairs;
}

function gpuCounts({ gpusBySwitch, gpusAtRoot = 0 }: ServerNode): number[] {
  return [gpusAtRoot, ...gpusBySwitch];
}

function functionsOfNode(model: ServerModel, node: ServerNode, numaNode: number): Unnumbered[] {
  const busesPerNode = BUSES / model.nodes.length;
  const rootBus = (root: number) =>
    Math.floor(numaNode * busesPerNode + (root * busesPerNode) / ROOTS_PER_NODE);
  const below = (root: number, cards: readonly PciCard[]) =>
    belowRootPorts({ model, numaNode, bus: rootBus(root), cards });
  const ofHost = numaNode === 0 ? [MANAGEMENT_SCREEN, BOOT_SATA] : [];
  const atRoot = Array.from({ length: node.gpusAtRoot ?? 0 }, () => model.gpu);
  return [
    ...below(0, [...node.nics, ...ofHost]),
    ...below(FIRST_GPU_ROOT, atRoot),
    ...node.gpusBySwitch.flatMap((gpus, i) =>
      behindSwitch({ model, numaNode, bus: rootBus(FIRST_GPU_ROOT + i), gpus }),
    ),
    ...below(COMPANIONS_ROOT, node.companions),
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
    const device = 1 + Math.floor(i / FUNCTIONS_PER_DEVICE);
    const portAddress = addressOf(bus, device, 1 + (i % FUNCTIONS_PER_DEVICE));
    const port = at(root, portAddress, { card: model.rootPort });
    const slot = { parent: port.path, numaNode };
    return [port, ...functionsOfCard(model, slot, { bus: bus + 1 + i, card })];
  });
}

/** A GPU with display outputs has a second function. */
function functionsOfCard(
  { gpu }: ServerModel,
  slot: Place,
  { bus, card, sharedGroup }: { bus: number; card: PciCard; sharedGroup?: string },
): Unnumbered[] {
  const shared = sharedGroup === undefined ? {} : { sharedGroup };
  if (card !== gpu) return [at(slot, addressOf(bus, 0, 0), { card })];
  const main = at(slot, addressOf(bus, 0, 0), { card, isGpu: true, ...shared });
  if (!gpu.audio) return [main];
  return [main, at(slot, addressOf(bus, 0, 1), { card: gpu.audio, ...shared })];
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
  const shared = model.switchesLackAcs ? { sharedGroup: upstream.address } : {};
  const functions: Unnumbered[] = [rootPort, upstream];
  for (let i = 0; i < gpus; i += 1) {
    const port = at(
      { parent: upstream.path, numaNode },
      addressOf(bus + 2, i * DEVICES_PER_PORT, 0),
      { card: model.switchPort, ...shared },
    );
    const slot = { parent: port.path, numaNode };
    const card = { bus: bus + 3 + i, card: model.gpu, ...shared };
    functions.push(port, ...functionsOfCard(model, slot, card));
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
  return functions.map(({ sharedGroup, ...one }) => {
    // Ports are functions of one device too, but ACS isolates them from each other.
    const isPort = one.card.class === BRIDGE_CLASS;
    const member = sharedGroup ?? (isPort ? one.address : one.address.slice(0, -'.0'.length));
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
