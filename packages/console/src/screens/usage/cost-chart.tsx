import { useEffect, useRef, useState } from 'react';
import { formatAmount } from '../../format/money.ts';
import type { Stacks } from './stack-usage.ts';

/** Told apart from each other and from both backgrounds; further groups share the last one. */
const COLOURS = ['#4f7df0', '#2c9c76', '#c07a1b', '#a05bd0', '#cc4f6b', '#3a93b8', '#7d8590'];
/** Until the width of the page is known. */
const FIRST_WIDTH = 600;
const HEIGHT = 220;
const LABELS = 22;
const LEFT = 56;

export const colourOf = (index: number) =>
  COLOURS[Math.min(index, COLOURS.length - 1)] ?? '#7d8590';

/** The cost of each day as stacked bars. The table below the chart has the same numbers. */
export function CostChart({ stacks, nameOf }: { stacks: Stacks; nameOf(key: string): string }) {
  const place = useRef<SVGSVGElement>(null);
  const width = useWidth(place);
  const { groups, days } = stacks;
  const top = niceTop(Math.max(...days.map(({ total }) => total), 0));
  const plot = HEIGHT - LABELS;
  const step = (width - LEFT) / Math.max(1, days.length);
  const barWidth = Math.max(1, step - 3);
  const heightOf = (cost: number) => (Math.max(0, cost) / top) * (plot - 10);
  const every = Math.ceil(days.length / Math.max(1, Math.floor(width / 80)));
  return (
    <svg ref={place} height={HEIGHT} role="img" aria-label="Cost per day" className="block w-full">
      {[0, 0.5, 1].map((share) => (
        <g key={share}>
          <line
            x1={LEFT}
            x2={width}
            y1={plot - share * (plot - 10)}
            y2={plot - share * (plot - 10)}
            className="stroke-line"
          />
          <text
            x={LEFT - 8}
            y={plot - share * (plot - 10) + 4}
            textAnchor="end"
            className="fill-muted text-[11px]"
          >
            {formatAmount(share * top)}
          </text>
        </g>
      ))}
      {days.map(({ date, costs, total }, index) => {
        let y = plot;
        return (
          <g key={date} transform={`translate(${LEFT + index * step + 1.5} 0)`}>
            <title>{`${date}: ${formatAmount(total)}`}</title>
            {groups.map(({ key }, group) => {
              const height = heightOf(costs.get(key) ?? 0);
              y -= height;
              return (
                <rect key={key} y={y} width={barWidth} height={height} fill={colourOf(group)}>
                  <title>{`${date}, ${nameOf(key)}: ${formatAmount(costs.get(key) ?? 0)}`}</title>
                </rect>
              );
            })}
            {index % every === 0 && (
              <text y={HEIGHT - 5} className="fill-muted text-[11px]">
                {date.slice(5)}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}

/** The width in pixels, so that texts are as large on a phone as elsewhere. */
function useWidth(place: { current: SVGSVGElement | null }): number {
  const [width, setWidth] = useState(FIRST_WIDTH);
  useEffect(() => {
    if (place.current === null) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry) setWidth(entry.contentRect.width);
    });
    observer.observe(place.current);
    return () => observer.disconnect();
  }, [place]);
  return width;
}

/** The next round number, so that the labels of the axis are short. */
function niceTop(highest: number): number {
  if (highest <= 0) return 1;
  const size = 10 ** Math.floor(Math.log10(highest));
  const factor = [1, 2, 5, 10].find((each) => each * size >= highest) ?? 10;
  return factor * size;
}
