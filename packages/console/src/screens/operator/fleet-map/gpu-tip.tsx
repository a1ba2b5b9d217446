import { labelOf } from './gpu-states.ts';
import type { Hit } from './layout.ts';
import { StateMark } from './state-mark.tsx';

const WIDTH = 260;
const HEIGHT = 140;
const BESIDE = 14;

/** What is under the pointer: the host, and the GPU and its holder. */
export function GpuTip({ hit: { placed, cell }, at }: { hit: Hit; at: { x: number; y: number } }) {
  const { host } = placed;
  return (
    <div
      role="status"
      className="pointer-events-none absolute z-10 max-w-[calc(100%-1rem)] rounded-md border border-line bg-raised px-3 py-2 text-sm shadow-popup"
      style={{
        width: WIDTH,
        left: `max(0.5rem, min(${at.x + BESIDE}px, 100% - ${WIDTH + 8}px))`,
        top: `max(0.5rem, min(${at.y + BESIDE}px, 100% - ${HEIGHT}px))`,
      }}
    >
      <p className="truncate font-medium">{host.name}</p>
      <p className="text-muted">
        {host.location}
        {host.rack !== '' && `, rack ${host.rack}`}
      </p>
      {host.closed_reason !== '' && (
        <p className="text-bad">Takes no new VMs: {host.closed_reason}.</p>
      )}
      {cell && (
        <div className="mt-1.5 border-t border-line pt-1.5">
          <p className="flex items-center gap-1.5">
            <StateMark state={cell.state} />
            {labelOf(cell.state)}
            {cell.vm && <span className="truncate">: {cell.vm.name || cell.vm.id}</span>}
          </p>
          <p className="text-muted">
            {cell.model}, NUMA node {cell.numaNode}
          </p>
          <p className="font-mono text-xs text-muted">{cell.address}</p>
        </div>
      )}
    </div>
  );
}
