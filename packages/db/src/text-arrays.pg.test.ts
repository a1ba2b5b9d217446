import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { afterAll, beforeAll, expect, it } from 'vitest';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it.each([
  [[]],
  [['a']],
  [['a', 'b c', '']],
  [['"', '\\', '\\"', '{', '}', ',', "'", 'null', 'NULL']],
  [['line\nend', 'tab\t', 'ünï', '🎛', '  spaces  ', '{"a","b"}']],
])('an array of text is read back unchanged: %j', async (items) => {
  const [row] =
    await database.sql`select ${items}::text[] as items, cardinality(${items}::text[]) as length`;
  expect(row).toEqual({ items, length: items.length });
});

it('an array of UUIDs is read back unchanged', async () => {
  const ids = ['01a1dcf6-0006-767f-9165-872680039855', '01a1dcf6-00f3-7a83-9225-1b9de5a72981'];
  const [row] = await database.sql`select ${ids}::uuid[] as ids`;
  expect(row).toEqual({ ids });
});
