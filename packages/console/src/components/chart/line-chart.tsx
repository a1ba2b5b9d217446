import { type PointerEvent, useState } from 'react';
import { niceTop, pathOf } from './chart-path.ts';

type Line = { label: string; colour: string; dashed?: boolean; values: number[] };
type LineChartProps = {
  /** Seconds since 1970. */
  at: number[];
  lines: Line[];
  /** Shown while there are too few points for a line. */
  empty: string;
};

const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
const shareOfTop = [1, 0.5, 0];

/** Numbers over time. The legend has the values under the pointer, or the last ones. */
export function LineChart({ at, lines, empty }: LineChartProps) {
  const [pointed, setPointed] = useState<number | null>(null);
  const top = niceTop(Math.max(0, ...lines.flatMap(({ values }) => values)));
  const last = at.length - 1;
  const index = pointed === null ? last : Math.min(pointed, last);
  const time = (seconds: number | undefined) =>
    seconds === undefined ? '' : exact.format(new Date(seconds * 1000));
  const point = ({ nativeEvent, currentTarget }: PointerEvent) =>
    setPointed(Math.round((nativeEvent.offsetX / currentTarget.clientWidth) * last));
  return (
    <div>
      <ul className="mb-2 flex flex-wrap gap-x-5 gap-y-1 text-sm">
        {lines.map(({ label, colour, dashed, values }) => (
          <li key={label} className="flex items-center gap-1.5">
            <svg aria-hidden="true" viewBox="0 0 16 4" className={`h-1 w-4 ${colour}`}>
              <path
                d="M0 2H16"
                stroke="currentColor"
                strokeWidth="3"
                strokeDasharray={dashed ? '4 2' : undefined}
              />
            </svg>
            {label} <span className="font-medium">{(values[index] ?? 0).toLocaleString('en')}</span>
          </li>
        ))}
      </ul>
      <div className="flex h-44 gap-2">
        <div
          aria-hidden="true"
          className="flex w-10 flex-col justify-between text-right text-xs text-muted"
        >
          {shareOfTop.map((share) => (
            <span key={share}>{(top * share).toLocaleString('en')}</span>
          ))}
        </div>
        <div
          className="relative flex-1 border-y border-line"
          onPointerMove={point}
          onPointerLeave={() => setPointed(null)}
        >
          {last < 1 ? (
            <p className="flex h-full items-center justify-center text-center text-muted">
              {empty}
            </p>
          ) : (
            <>
              <svg
                aria-hidden="true"
                viewBox="0 0 100 100"
                preserveAspectRatio="none"
                className="pointer-events-none absolute inset-0 size-full"
              >
                <path d="M0 50H100" className="stroke-line" vectorEffect="non-scaling-stroke" />
                {lines.map(({ label, colour, dashed, values }) => (
                  <path
                    key={label}
                    d={pathOf(at, values, top)}
                    fill="none"
                    stroke="currentColor"
                    strokeWidth="1.75"
                    strokeDasharray={dashed ? '5 4' : undefined}
                    vectorEffect="non-scaling-stroke"
                    className={colour}
                  />
                ))}
              </svg>
              {pointed !== null && (
                <span
                  aria-hidden="true"
                  className="pointer-events-none absolute inset-y-0 w-px bg-line-strong"
                  style={{ left: `${(index / last) * 100}%` }}
                />
              )}
            </>
          )}
        </div>
      </div>
      <p className="mt-1 flex justify-between pl-12 text-xs text-muted">
        <span>{time(at[0])}</span>
        <span>{time(at[index])}</span>
      </p>
    </div>
  );
}
