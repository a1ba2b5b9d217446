/**
 * Places the fleet on a plane: locations below each other, racks beside each other, hosts below each other in their
 * rack, and the GPUs of a host in a row, with a gap between PCIe switches and a wider one between NUMA nodes. All
 * functions here are pure; `draw.ts` draws what they return.
 */

export type GpuState = 'free' | 'sold' | 'cleaning' | 'blocked';

/** A host as `GET /v0.1/admin/fleet` returns it. */
export type FleetHost = {
  id: string;
  name: string;
  location: string;
  rack: string;
  state: string;
  admin_state: string;
  closed_reason: string;
  gpus: {
    numa_node: number;
    pcie_switch: string;
    model: string;
    addresses: string[];
    states: GpuState[];
    vms: number[];
  }[];
  vms: { id: string; name: string }[];
};

export type Box = { x: number; y: number; width: number; height: number };
export type Cell = Box & {
  address: string;
  model: string;
  numaNode: number;
  pcieSwitch: string;
  state: GpuState;
  /** Null if no VM has the GPU. */
  vm: { id: string; name: string } | null;
};
export type PlacedHost = Box & {
  host: FleetHost;
  cells: Cell[];
  numaNodes: Box[];
  switches: Box[];
};
export type Titled = Box & { title: string };
export type FleetLayout = {
  width: number;
  height: number;
  locations: Titled[];
  racks: Titled[];
  hosts: PlacedHost[];
};

const CELL = 10;
const CELL_GAP = 2;
const SWITCH_GAP = 3;
const NUMA_GAP = 5;
const HOST_TITLE = 11;
const HOST_PADDING = 3;
const HOST_GAP = 4;
const RACK_TITLE = 16;
const RACK_GAP = 14;
const LOCATION_TITLE = 28;
const LOCATION_GAP = 24;
/** A rack with more hosts continues in the next column. */
const HOSTS_PER_COLUMN = 24;

/** A line of racks ends before `most`, unless it has only one rack. */
export function layoutFleet(hosts: readonly FleetHost[], most: number): FleetLayout {
  const layout: FleetLayout = { width: 0, height: 0, locations: [], racks: [], hosts: [] };
  for (const [title, inLocation] of grouped(hosts, ({ location }) => location)) {
    const y = layout.height === 0 ? 0 : layout.height + LOCATION_GAP;
    const end = placeRacks(layout, inLocation, { top: y + LOCATION_TITLE, most });
    layout.locations.push({ title, x: 0, y, width: end.right, height: end.bottom - y });
    layout.height = end.bottom;
    layout.width = Math.max(layout.width, end.right);
  }
  return layout;
}

/** Places racks in lines. Returns where the last line ends. */
function placeRacks(
  layout: FleetLayout,
  hosts: readonly FleetHost[],
  { top, most }: { top: number; most: number },
) {
  let x = 0;
  let y = top;
  let right = 0;
  let bottom = top;
  for (const [title, inRack] of grouped(hosts, ({ rack }) => rack)) {
    const placed = inRack.map(placeHost);
    const column = Math.max(...placed.map((host) => host.width));
    const columns = Math.ceil(placed.length / HOSTS_PER_COLUMN);
    const rackWidth = columns * (column + HOST_GAP) - HOST_GAP;
    if (x > 0 && x + rackWidth > most) {
      x = 0;
      y = bottom + RACK_GAP;
    }
    const titled = title === '' ? 0 : RACK_TITLE;
    const rackBottom = stackHosts(placed, { x, y: y + titled, column });
    layout.racks.push({ title, x, y, width: rackWidth, height: rackBottom - y });
    layout.hosts.push(...placed);
    x += rackWidth + RACK_GAP;
    right = Math.max(right, x - RACK_GAP);
    bottom = Math.max(bottom, rackBottom);
  }
  return { right, bottom };
}

/** Moves hosts, which were placed at the origin, below each other. Returns the lower end. */
function stackHosts(hosts: PlacedHost[], at: { x: number; y: number; column: number }): number {
  let bottom = at.y;
  let y = at.y;
  hosts.forEach((host, index) => {
    if (index % HOSTS_PER_COLUMN === 0) y = at.y;
    const x = at.x + Math.floor(index / HOSTS_PER_COLUMN) * (at.column + HOST_GAP);
    for (const box of [host, ...host.cells, ...host.numaNodes, ...host.switches]) {
      box.x += x;
      box.y += y;
    }
    y += host.height + HOST_GAP;
    bottom = Math.max(bottom, y - HOST_GAP);
  });
  return bottom;
}

function placeHost(host: FleetHost): PlacedHost {
  const placed: PlacedHost = {
    ...{ host, x: 0, y: 0, width: 0, height: 0, cells: [], numaNodes: [], switches: [] },
  };
  const y = HOST_PADDING + HOST_TITLE;
  let x = HOST_PADDING;
  for (const [, inNode] of grouped(host.gpus, ({ numa_node }) => String(numa_node))) {
    const nodeStart = x;
    for (const [, behindSwitch] of grouped(inNode, ({ pcie_switch }) => pcie_switch)) {
      const switchStart = x;
      for (const cell of behindSwitch.flatMap((group) => cellsOf(host, group))) {
        placed.cells.push({ ...cell, x, y, width: CELL, height: CELL });
        x += CELL + CELL_GAP;
      }
      x -= CELL_GAP;
      placed.switches.push({ x: switchStart, y, width: x - switchStart, height: CELL });
      x += SWITCH_GAP;
    }
    x -= SWITCH_GAP;
    placed.numaNodes.push({ x: nodeStart, y, width: x - nodeStart, height: CELL });
    x += NUMA_GAP;
  }
  const end = placed.cells.length === 0 ? HOST_PADDING + 4 * CELL : x - NUMA_GAP;
  placed.width = end + HOST_PADDING;
  placed.height = y + CELL + HOST_PADDING;
  return placed;
}

type Group = FleetHost['gpus'][number];
function cellsOf(host: FleetHost, group: Group): Omit<Cell, keyof Box>[] {
  return group.addresses.map((address, index) => ({
    address,
    model: group.model,
    numaNode: group.numa_node,
    pcieSwitch: group.pcie_switch,
    state: group.states[index] ?? 'blocked',
    vm: host.vms[group.vms[index] ?? -1] ?? null,
  }));
}

/** Groups in the order of their names, so that a host keeps its place when others change. */
function grouped<T>(items: readonly T[], keyOf: (item: T) => string): [string, T[]][] {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return [...groups].sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }));
}

const contains = ({ x, y, width, height }: Box, at: { x: number; y: number }) =>
  at.x >= x && at.x < x + width && at.y >= y && at.y < y + height;

export type Hit = { placed: PlacedHost; cell: Cell | null };

/** Returns the host at a point, and the GPU if the point is on one. */
export function hitTest(layout: FleetLayout, at: { x: number; y: number }): Hit | null {
  const placed = layout.hosts.find((host) => contains(host, at));
  if (!placed) return null;
  return { placed, cell: placed.cells.find((cell) => contains(cell, at)) ?? null };
}

/**
 * Applies hosts that were read again to the layout. Returns those whose picture has changed, or null if a host is new
 * or has other places or GPUs, so that the layout has to be made again.
 */
export function applyHosts(
  layout: FleetLayout,
  changed: readonly FleetHost[],
): PlacedHost[] | null {
  const byId = new Map(layout.hosts.map((placed) => [placed.host.id, placed]));
  const dirty: PlacedHost[] = [];
  for (const host of changed) {
    const placed = byId.get(host.id);
    if (!placed || !hasSameShape(placed.host, host)) return null;
    const cells = host.gpus.flatMap((group) => cellsOf(host, group));
    if (!isSamePicture(placed, host, cells)) dirty.push(placed);
    placed.host = host;
    placed.cells.forEach((cell, index) => {
      Object.assign(cell, cells[index]);
    });
  }
  return dirty;
}

function hasSameShape(before: FleetHost, after: FleetHost): boolean {
  const shape = ({ location, rack, name, gpus }: FleetHost) =>
    JSON.stringify([
      location,
      rack,
      name,
      gpus.map((g) => [g.numa_node, g.pcie_switch, g.addresses]),
    ]);
  return shape(before) === shape(after);
}

function isSamePicture(
  { host: before, cells: drawn }: PlacedHost,
  host: FleetHost,
  cells: Omit<Cell, keyof Box>[],
): boolean {
  const isSameHost = before.closed_reason === host.closed_reason && before.state === host.state;
  return isSameHost && cells.every(({ state }, index) => drawn[index]?.state === state);
}
