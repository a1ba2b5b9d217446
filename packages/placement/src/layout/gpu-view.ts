import { countBits } from './count-bits.ts';
import type { Layout, Unit } from './layout.ts';
import { type NodePick, pickInNode } from './pick-in-node.ts';

/**
 * The free GPUs of one model on a layout, computed from the mask of free GPUs. There are few
 * different masks and many hosts, so views are cached: a decision looks a view up and computes
 * nothing.
 */
export type GpuView = {
  /** Free GPUs of the model, including those whose IOMMU group is not entirely free. */
  freeCount: number;
  /** Free GPUs of the model whose whole IOMMU group is free, by node. */
  nodeFree: readonly number[];
  /** Equal for two views of a layout and model if every request fits both in the same way. */
  shapeId: number;
  /** Returns null if no set of whole IOMMU groups of the node has exactly `count` GPUs. */
  pick: (node: number, count: number) => NodePick | null;
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
  const units = layout.units.filter((unit) => (unit.mask & free) === unit.mask);
  const nodeFree = layout.nodes.map((_, node) =>
    units.reduce((sum, unit) => sum + (unit.node === node ? unit.size : 0), 0),
  );
  const freeCount = countBits(free);
  const picks = new Map<number, NodePick | null>();
  const nodeShapes = layout.nodes.map((_, node) => nodeShape(units, node));
  const shape = `${freeCount};${nodeShapes.join(';')}`;
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
  };
}

/**
 * The switches of a node are interchangeable, and so are the GPUs behind one switch. This is not true
 * if an NVLink bridge joins two switches or IOMMU groups of different sizes: then the mask itself is
 * the shape.
 */
function nodeShape(units: Unit[], node: number): string {
  const own = units.filter((unit) => unit.node === node);
  const usable = own.reduce((mask, unit) => mask | unit.mask, 0);
  const bridged = own.filter((unit) => unit.peers & usable);
  const regular = bridged.every((unit) =>
    own.some(
      (peer) =>
        peer.mask === unit.peers && peer.switchName === unit.switchName && peer.size === unit.size,
    ),
  );
  if (!regular) return `m${usable}`;
  const switches = new Map<string, string[]>();
  for (const unit of own) {
    const words = switches.get(unit.switchName) ?? [];
    words.push(`${unit.size}${unit.peers & usable ? 'n' : ''}`);
    switches.set(unit.switchName, words);
  }
  return [...switches.values()]
    .map((words) => words.sort().join('+'))
    .sort()
    .join(',');
}
