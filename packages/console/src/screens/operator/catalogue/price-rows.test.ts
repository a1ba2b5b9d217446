import { expect, it } from 'vitest';
import { priceRows } from './price-rows.ts';

it('everything that is offered can get a price, and retired types keep theirs', () => {
  const types = [
    { name: 'a40.1x', retired: false },
    { name: 'old.1x', retired: true },
    { name: 'older.1x', retired: true },
  ];
  const rows = priceRows(types, [
    { resource_type: 'old.1x', usd_per_hour: 2 },
    { resource_type: 'persistent-ssd', usd_per_hour: 0.0001 },
  ]);
  expect(rows.map(({ name, usd, isDisk }) => [name, usd, isDisk])).toEqual([
    ['persistent-ssd', 0.0001, true],
    ['shared-volume', undefined, true],
    ['a40.1x', undefined, false],
    ['old.1x', 2, false],
  ]);
});
