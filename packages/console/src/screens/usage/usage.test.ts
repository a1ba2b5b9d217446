import { usageCsv } from '@gantry/sdk';
import { expect, it } from 'vitest';
import { lastDays, stackUsage, type UsageItem } from './stack-usage.ts';

const item = (part: Partial<UsageItem>): UsageItem => ({
  ...{ date: '2026-01-01', project_id: 'p-1', resource_type: 'a40.1x', region: 'eu-north' },
  ...{ billable_metric: 'vm_seconds', quantity: 3600, cost_usd: 1, priced: true },
  ...{ adjustment_reason: '', adjusted_at: '' },
  ...part,
});

it('the last days end yesterday', () => {
  expect(lastDays(3, Date.UTC(2026, 2, 2, 23))).toEqual(['2026-02-27', '2026-02-28', '2026-03-01']);
});

it('costs are added up for each day and group, and refunds lower them', () => {
  const items = [
    item({ cost_usd: 5 }),
    item({ cost_usd: -2, adjustment_reason: 'refund' }),
    item({ resource_type: 'a100.8x', cost_usd: 40 }),
    item({ date: '2026-01-02', project_id: 'p-2' }),
  ];
  const { groups, days, total } = stackUsage(items, 'resource_type', ['2026-01-01', '2026-01-02']);
  expect(groups).toEqual([
    { key: 'a100.8x', total: 40 },
    { key: 'a40.1x', total: 4 },
  ]);
  expect(days.map((day) => day.total)).toEqual([43, 1]);
  expect(total).toBe(44);
  expect(stackUsage(items, 'project_id', []).groups.map(({ key }) => key)).toEqual(['p-1', 'p-2']);
});

it('a cell of the export is quoted if it must be, and never a formula', () => {
  const names = new Map([['p-1', '=HYPERLINK("x")']]);
  const [, line] = usageCsv([item({ adjustment_reason: 'a, b' })], names).split('\r\n');
  expect(line).toBe(
    `2026-01-01,"'=HYPERLINK(""x"")",p-1,a40.1x,eu-north,vm_seconds,3600,1,true,"a, b",`,
  );
});
