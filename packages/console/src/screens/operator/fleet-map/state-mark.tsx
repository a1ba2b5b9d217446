import type { GpuState } from './layout.ts';

const COLOURS: Record<GpuState, string> = {
  free: 'text-good',
  sold: 'text-accent-fill',
  cleaning: 'text-warn',
  blocked: 'text-bad',
};

/** The cell of a GPU as the map draws it. A text beside it names the state. */
export function StateMark({ state }: { state: GpuState }) {
  return (
    <svg aria-hidden="true" viewBox="0 0 12 12" className={`size-3 shrink-0 ${COLOURS[state]}`}>
      <rect
        x="0.75"
        y="0.75"
        width="10.5"
        height="10.5"
        stroke="currentColor"
        strokeWidth="1.5"
        fill={state === 'sold' ? 'currentColor' : 'none'}
      />
      {state === 'cleaning' && <rect x="0" y="6" width="12" height="6" fill="currentColor" />}
      {state === 'blocked' && (
        <path d="m2.5 2.5 7 7m0-7-7 7" stroke="currentColor" strokeWidth="1.5" />
      )}
    </svg>
  );
}
