import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { addProject } from '@gantry/testkit/make/tenants';
import { addVms } from '@gantry/testkit/make/vms';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fieldsOfEnd, type OperationEnd, watchOperationEnds } from './operation-ends.ts';
import { failOperation, succeedOperation } from './queries/settle/end-operation.ts';
import { transact } from './transact.ts';

let database: TestDatabase;
const ends: OperationEnd[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
  watchOperationEnds(database.sql, (end) => ends.push(end));
});
afterAll(() => database.drop());

it('the owner of a pool learns of ends after their commit, and not of ends that are rolled back', async () => {
  const { sql } = database;
  const projectId = await addProject(sql);
  const [first = '', second = ''] = await addVms(sql, 2, { projectId });
  const failure = { code: 'no_capacity', message: 'no host has room' };
  const rolledBack = transact(sql, async (tx) => {
    await failOperation(tx, { resourceId: first, failure });
    throw new Error('rolled back');
  });
  await expect(rolledBack).rejects.toThrow('rolled back');
  expect(ends).toEqual([]);
  await transact(sql, async (tx) => {
    await failOperation(tx, { resourceId: first, failure });
    expect(ends).toEqual([]);
  });
  await succeedOperation(sql, { resourceId: second, result: {} });
  // The operation has ended, so this changes nothing.
  await succeedOperation(sql, { resourceId: first, result: {} });
  expect(ends.map(fieldsOfEnd)).toEqual([
    expect.objectContaining({ vm_id: first, state: 'FAILED', code: 'no_capacity' }),
    expect.objectContaining({ vm_id: second, state: 'SUCCEEDED', code: undefined }),
  ]);
});
