import { loadavg } from 'node:os';

export type Goal = { most: number } | { least: number };

let missed = 0;

/** A row of the table: the figure, its goal if it has one, and the load of the machine. */
export function row(name: string, value: number, unit: string, goal?: Goal): void {
  const met = !goal || ('most' in goal ? value <= goal.most : value >= goal.least);
  if (!met) missed += 1;
  const aim = goal ? ('most' in goal ? `≤ ${goal.most}` : `≥ ${goal.least}`) : '';
  const verdict = goal ? (met ? 'met' : 'MISSED') : '';
  const [load = 0] = loadavg();
  console.log(
    `${name.padEnd(52)} ${show(value).padStart(9)} ${unit.padEnd(13)} ${aim.padEnd(11)} ${verdict.padEnd(7)} load ${load.toFixed(1)}`,
  );
}

export function missedGoals(): number {
  return missed;
}

function show(value: number): string {
  if (Math.abs(value) >= 1_000) return value.toFixed(0);
  return value.toFixed(Math.abs(value) >= 100 ? 0 : 2);
}
