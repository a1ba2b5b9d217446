import { countBits } from './count-bits.ts';
import type { Layout, Unit } from './layout.ts';
import { type NodePick, pickInNode } from './pick-in-node.ts';

/**
 * The free GPUs of one model on a layout, computed from the mask of free GPUs. There are few
 * different masks and many hosts, so views are cached: a decision looks a view up and computes
 * nothing.
 */
export type GpuView = {
  /** Free GPUs of the model, including those whose unit is not entirely free. */
  freeCount: number;
  /** Free GPUs of the model whose whole unit is free, by node. */
  nodeFree: readonly number[];
  /** Equal for two views of a layout and model if every request fits both in the same way. */
  shapeId: number;
  /** Returns null if no set of whole units of the node has exactly `count` GPUs. */
  pick: (node: number, count: number) => NodePick | null;
  /** Returns whether a set of free IOMMU groups has exactly `count` GPUs, regardless of NVLink bridges. */
  hasGroupsOf: (count: number) => boolean;
};

export type GpuViews = { at: (freeMask: number) => GpuView };

const viewsByLayout = new WeakMap<Layout, Map<string, GpuViews>>();

export function gpuViews(layout: Layout, model: string): GpuViews {
  const byModel = viewsByLayout.get(layout) ?? new Map<string, GpuViews>();
  viewsByLayout.set(layout, byModel);
  const known = byModel.get(model);
  if (known) return known;
  const byMask = new Map<number, GpuView>();
  const shapeIds = new Map<string, number>();
  const at = (freeMask: number) => {
    const kept = byMask.get(freeMask);
    if (kept) return kept;
    const made = makeView({ layout, model, freeMask, shapeIds });
    byMask.set(freeMask, made);
    return made;
  };
  byModel.set(model, { at });
  return { at };
}

type ViewOf = { layout: Layout; model: string; freeMask: number; shapeIds: Map<string, number> };

function makeView({ layout, model, freeMask, shapeIds }: ViewOf): GpuView {
  const free = freeMask & (layout.modelMasks.get(model) ?? 0);
  const isFree = (unit: Unit) => (unit.mask & free) === unit.mask;
  const units = layout.units.filter(isFree);
  const groups = layout.groups === layout.units ? units : layout.groups.filter(isFree);
  const nodeFree = layout.nodes.map((_, node) =>
    units.reduce((sum, unit) => sum + (unit.node === node ? unit.size : 0), 0),
  );
  const freeCount = countBits(free);
  const picks = new Map<number, NodePick | null>();
  const nodeShapes = layout.nodes.map((_, node) => nodeShape(units, node));
  const groupSizes = groups === units ? [] : groups.map(({ size }) => size).sort();
  const shape = `${freeCount};${groupSizes};${nodeShapes.join(';')}`;
  const shapeId = shapeIds.get(shape) ?? shapeIds.size;
  shapeIds.set(shape, shapeId);
  return {
    freeCount,
    nodeFree,
    shapeId,
    pick: (node, count) => {
      const key = node * 64 + count;
      let pick = picks.get(key);
      if (pick === undefined) {
        pick = pickInNode(
          units.filter((unit) => unit.node === node),
          count,
        );
        picks.set(key, pick);
      }
      return pick;
    },
    hasGroupsOf: (count) => {
      const sums = new Set([0]);
      for (const { size } of groups) for (const sum of [...sums]) sums.add(sum + size);
      return sums.has(count);
    },
  };
}

/**
 * The switches of a node are interchangeable, and so are the units behind one switch that have the same
 * size. This is not true if a unit is behind several switches: then the mask itself is the shape.
 */
function nodeShape(units: Unit[], node: number): string {
  const own = units.filter((unit) => unit.node === node);
  const isBehindOne = ({ switchNames }: Unit) =>
    switchNames.every((name) => name === switchNames[0]);
  if (!own.every(isBehindOne)) return `m${own.reduce((mask, unit) => mask | unit.mask, 0)}`;
  const switches = new Map<string, number[]>();
  for (const { switchNames, size } of own) {
    const [name = ''] = switchNames;
    switches.set(name, [...(switches.get(name) ?? []), size]);
  }
  return [...switches.values()]
    .map((sizes) => sizes.sort().join('+'))
    .sort()
    .join(',');
}
