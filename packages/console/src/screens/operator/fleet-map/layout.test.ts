import { describe, expect, it } from 'vitest';
import { applyHosts, type Box, type FleetHost, hitTest, layoutFleet } from './layout.ts';
import { fitAll, isVisible, reveal, toPlane, toScreen, zoomAt } from './view.ts';

type Changes = Partial<FleetHost>;
function host(name: string, changes: Changes = {}): FleetHost {
  const group = (node: number, first: number) => ({
    ...{ numa_node: node, pcie_switch: `sw${node}`, model: 'H100' },
    addresses: [0, 1, 2, 3].map((slot) => `0000:${first + slot}:00.0`),
    states: ['free', 'sold', 'free', 'blocked'] as FleetHost['gpus'][number]['states'],
    vms: [-1, 0, -1, -1],
  });
  return {
    ...{ id: name, name, location: 'eu-north-a', rack: 'r1', state: 'ready' },
    ...{ admin_state: 'active', closed_reason: '', gpus: [group(0, 10), group(1, 20)] },
    vms: [{ id: 'vm-1', name: 'trainer' }],
    ...changes,
  };
}

const fleet = (count: number) =>
  Array.from({ length: count }, (_, n) =>
    host(`h${n}`, { rack: `r${n % 9}`, location: n % 2 ? 'eu-north-a' : 'us-east-a' }),
  );
const overlap = (a: Box, b: Box) =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
const inside = (inner: Box, outer: Box) =>
  inner.x >= outer.x &&
  inner.y >= outer.y &&
  inner.x + inner.width <= outer.x + outer.width &&
  inner.y + inner.height <= outer.y + outer.height;

describe('the layout of a fleet', () => {
  const layout = layoutFleet(fleet(120), 900);

  it('has every host and GPU once, and no two overlap', () => {
    expect(layout.hosts).toHaveLength(120);
    const cells = layout.hosts.flatMap((placed) => placed.cells);
    expect(cells).toHaveLength(960);
    for (const [index, a] of layout.hosts.entries())
      for (const b of layout.hosts.slice(index + 1)) expect(overlap(a, b)).toBe(false);
    for (const placed of layout.hosts)
      for (const [index, a] of placed.cells.entries()) {
        expect(inside(a, placed)).toBe(true);
        for (const b of placed.cells.slice(index + 1)) expect(overlap(a, b)).toBe(false);
      }
  });

  it('has hosts inside their rack, and racks inside their location and the plane', () => {
    for (const rack of layout.racks) {
      expect(layout.locations.filter((location) => inside(rack, location))).toHaveLength(1);
      expect(rack.x + rack.width).toBeLessThanOrEqual(900);
    }
    for (const placed of layout.hosts)
      expect(layout.racks.filter((rack) => inside(placed, rack))).toHaveLength(1);
    expect(layout.locations.map(({ title }) => title)).toEqual(['eu-north-a', 'us-east-a']);
  });

  it('sorts racks by number, so that r10 follows r9', () => {
    const racks = ['r10', 'r9', 'r1'].map((rack) => host(`in-${rack}`, { rack }));
    expect(layoutFleet(racks, 900).racks.map(({ title }) => title)).toEqual(['r1', 'r9', 'r10']);
  });

  it('separates switches and NUMA nodes by wider gaps than GPUs', () => {
    const [placed] = layout.hosts;
    const xs = placed?.cells.map(({ x }) => x) ?? [];
    const gaps = xs.slice(1).map((x, index) => x - (xs[index] ?? 0));
    expect(gaps[3]).toBeGreaterThan(gaps[0] ?? 0);
    expect(new Set(gaps.filter((_, index) => index !== 3)).size).toBe(1);
  });

  it('is empty for no hosts, and places a host without GPUs', () => {
    expect(layoutFleet([], 900)).toMatchObject({ width: 0, height: 0, hosts: [] });
    const [placed] = layoutFleet([host('h', { gpus: [] })], 900).hosts;
    expect(placed?.width).toBeGreaterThan(0);
  });
});

describe('the thing at a point', () => {
  const layout = layoutFleet(fleet(40), 900);
  const centre = ({ x, y, width, height }: Box) => ({ x: x + width / 2, y: y + height / 2 });

  it('is the GPU that is drawn there, with its holder', () => {
    for (const placed of layout.hosts)
      for (const cell of placed.cells)
        expect(hitTest(layout, centre(cell))).toEqual({ placed, cell });
    const sold = layout.hosts[0]?.cells[1];
    expect(sold?.vm).toEqual({ id: 'vm-1', name: 'trainer' });
  });

  it('is the host between its GPUs, and nothing between hosts', () => {
    const [placed] = layout.hosts;
    if (!placed) throw new Error('there are hosts');
    expect(hitTest(layout, { x: placed.x + 1, y: placed.y + 1 })).toEqual({ placed, cell: null });
    expect(hitTest(layout, { x: placed.x - 1, y: placed.y - 1 })).toBeNull();
  });
});

describe('an update of the layout', () => {
  it('returns the hosts whose picture has changed, and no others', () => {
    const layout = layoutFleet(fleet(30), 900);
    const before = layout.hosts[4]?.host;
    if (!before) throw new Error('there are hosts');
    const [first, ...others] = before.gpus;
    if (!first) throw new Error('the host has GPUs');
    const sold = { ...before, gpus: [{ ...first, states: first.states.toReversed() }, ...others] };
    const same = structuredClone(layout.hosts[5]?.host ?? before);
    const dirty = applyHosts(layout, [sold, same]);
    expect(dirty?.map(({ host: { id } }) => id)).toEqual([before.id]);
    expect(layout.hosts[4]?.cells.slice(0, 4).map(({ state }) => state)).toEqual(
      first.states.toReversed(),
    );
  });

  it('shows a host that takes no VMs any more', () => {
    const layout = layoutFleet([host('h')], 900);
    expect(applyHosts(layout, [host('h', { closed_reason: 'it is cordoned' })])).toHaveLength(1);
  });

  it('asks for a new layout if a host is new, moved or has other GPUs', () => {
    const layout = () => layoutFleet([host('h')], 900);
    expect(applyHosts(layout(), [host('new')])).toBeNull();
    expect(applyHosts(layout(), [host('h', { rack: 'r2' })])).toBeNull();
    expect(applyHosts(layout(), [host('h', { gpus: [] })])).toBeNull();
    expect(applyHosts(layout(), [host('h')])).toEqual([]);
  });
});

describe('the view', () => {
  const canvas = { width: 800, height: 600 };

  it('keeps the point under the pointer when it zooms, within limits', () => {
    const view = { x: 10, y: 20, scale: 1 };
    const at = { x: 300, y: 200 };
    for (const factor of [1.2, 0.5, 1e6, 1e-6]) {
      const zoomed = zoomAt(view, at, factor);
      expect(toPlane(zoomed, at).x).toBeCloseTo(toPlane(view, at).x);
      expect(toPlane(zoomed, at).y).toBeCloseTo(toPlane(view, at).y);
      expect(zoomed.scale).toBeLessThanOrEqual(4);
    }
  });

  it('fits the plane into the canvas', () => {
    const plane = { width: 3000, height: 9000 };
    const all = toScreen(fitAll(plane, canvas), { x: 0, y: 0, ...plane });
    expect(inside(all, { x: 0, y: 0, ...canvas })).toBe(true);
    const small = fitAll({ width: 10, height: 10 }, canvas);
    expect(small.scale).toBe(2);
  });

  it('reveals a box that is outside, and does not move for one that is inside', () => {
    const view = { x: 0, y: 0, scale: 1 };
    const far = { x: 2000, y: -500, width: 50, height: 20 };
    const whole = { x: 0, y: 0, ...canvas };
    expect(isVisible(view, far, whole)).toBe(false);
    expect(isVisible(reveal(view, far, canvas), far, whole)).toBe(true);
    expect(reveal(view, { x: 100, y: 100, width: 50, height: 20 }, canvas)).toEqual(view);
  });
});
