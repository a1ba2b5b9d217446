import type { Schemas } from '@gantry/sdk';

export type UsageItem = Schemas['Usage'];
export type Grouping = 'resource_type' | 'project_id';

export type Stacks = {
  /** The groups, the most expensive first, with their cost in the whole period. */
  groups: { key: string; total: number }[];
  /** Every day of the period, with the cost of each group on it. */
  days: { date: string; costs: ReadonlyMap<string, number>; total: number }[];
  total: number;
};

/** Adds up the cost of each group on each day. Refunds lower it. */
export function stackUsage(items: UsageItem[], by: Grouping, dates: string[]): Stacks {
  const days = dates.map((date) => {
    const costs = sumBy(
      items.filter((item) => item.date === date),
      by,
    );
    return { date, costs, total: sum([...costs.values()]) };
  });
  const groups = [...sumBy(items, by)]
    .map(([key, total]) => ({ key, total }))
    .sort((a, b) => b.total - a.total || (a.key < b.key ? -1 : 1));
  return { groups, days, total: sum(groups.map(({ total }) => total)) };
}

function sumBy(items: UsageItem[], by: Grouping): Map<string, number> {
  const costs = new Map<string, number>();
  for (const item of items) costs.set(item[by], (costs.get(item[by]) ?? 0) + item.cost_usd);
  return costs;
}

const sum = (numbers: number[]) => numbers.reduce((total, each) => total + each, 0);

/** The last days until yesterday in UTC; today is not closed yet. */
export function lastDays(count: number, nowMs: number): string[] {
  const dayMs = 86_400_000;
  return Array.from({ length: count }, (_, index) =>
    new Date(nowMs - (count - index) * dayMs).toISOString().slice(0, 10),
  );
}
