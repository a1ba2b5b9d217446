import { newId } from '@gantry/model/ids';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { insertSigningKey, readSigningKeys } from './tokens.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const HOUR_MS = 3_600_000;
const insertKey = (id: string, unlessYoungerMs: number | null = null) =>
  insertSigningKey(database.sql, {
    ...{ id, publicKey: {}, sealedPrivateKey: 'sealed', unlessYoungerMs },
  });

it('the signing key that was inserted last is the newest, whatever the clock of its process', async () => {
  const made = newId(Date.now() + HOUR_MS);
  const rotated = newId();
  await insertKey(made);
  await insertKey(rotated);
  const keys = await readSigningKeys(database.sql, HOUR_MS);
  expect(keys.map(({ id }) => id)).toEqual([rotated, made]);
});

it('a key is not replaced before its time, and outlives its time only as the newest', async () => {
  await insertKey(newId(), HOUR_MS);
  const [newest, ...others] = await readSigningKeys(database.sql, HOUR_MS);
  expect(others).toHaveLength(1);
  await database.sql`update signing_keys set created_at = created_at - interval '2 hours'`;
  expect(await readSigningKeys(database.sql, HOUR_MS)).toMatchObject([{ id: newest?.id }]);
  const next = newId();
  await insertKey(next, HOUR_MS);
  expect(await readSigningKeys(database.sql, HOUR_MS)).toMatchObject([{ id: next }]);
});
