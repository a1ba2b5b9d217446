import { useSyncExternalStore } from 'react';

/** How often the times are shown anew. */
const TICK_MS = 10_000;
const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];
const format = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

/** How long ago something was. The exact time is shown on hover. */
export function RelativeTime({ at }: { at: string }) {
  const now = useNow();
  if (at === '') return <span className="text-muted">never</span>;
  const date = new Date(at);
  return (
    <time dateTime={at} title={exact.format(date)} className="whitespace-nowrap">
      {relative(date.getTime(), now)}
    </time>
  );
}

function relative(atMs: number, nowMs: number): string {
  const seconds = Math.round((atMs - nowMs) / 1000);
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? [];
  if (unit !== undefined && size !== undefined)
    return format.format(Math.round(seconds / size), unit);
  // What has just happened is after the last tick.
  return seconds * 1000 > TICK_MS ? 'in a moment' : 'just now';
}

/** One clock for all times of the page. */
let nowMs = Date.now();
const listeners = new Set<() => void>();
setInterval(() => {
  nowMs = Date.now();
  for (const listener of listeners) listener();
}, TICK_MS);

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export function useNow(): number {
  return useSyncExternalStore(subscribe, () => nowMs);
}
