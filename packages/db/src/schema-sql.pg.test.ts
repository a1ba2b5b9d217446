import { createTestDatabase } from '@gantry/testkit/database/test-database';
import { expect, it } from 'vitest';
import { describeSchema } from './testing/describe-schema.ts';

it('schema.sql describes the migrated database: if not, run "npm run gen:schema"', async () => {
  const database = await createTestDatabase();
  try {
    await expect(await describeSchema(database.sql)).toMatchFileSnapshot('../schema.sql');
  } finally {
    await database.drop();
  }
});
