import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { openInterval } from '@gantry/db/queries/usage/meter';
import { newId } from '@gantry/model/ids';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';

let database: TestDatabase;
const userId = newId();

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it('the process closes due days, cleans up and exits with 0 on SIGTERM', async () => {
  const { sql } = database;
  await openInterval(sql, {
    organizationId: newId(),
    projectId: newId(),
    resourceId: newId(),
    region: 'eu-north',
    metered: { metric: 'vm_seconds', vmType: 'a40.1x' },
    startedAt: new Date(Date.now() - 3 * 86_400_000),
  });
  await sql`insert into idempotency_keys (actor_id, key, request_hash, reply, sealed, created_at)
    values (${userId}, 'old', '', '', false, now() - interval '2 days')`;
  const child = fork(fileURLToPath(new URL('./main.ts', import.meta.url)), {
    execArgv: ['--import', 'tsx'],
    env: {
      ...process.env,
      DATABASE_URL: database.url,
      GANTRY_SECRET_KEY: 'a secret key for tests, long enough',
      GANTRY_FLEET_KEY: 'a fleet key for tests, which is long enough',
      GANTRY_FLEET_PORT: '0',
      GANTRY_LOG_LEVEL: 'silent',
    },
  });
  const exited = once(child, 'exit');
  try {
    await once(child, 'message');
    await vi.waitFor(
      async () => {
        const [row] = await sql`select (select count(*)::int from usage_days) as days,
          (select count(*)::int from idempotency_keys) as keys`;
        expect(row?.['days']).toBeGreaterThanOrEqual(2);
        expect(row?.['keys']).toBe(0);
      },
      { timeout: 20_000 },
    );
  } finally {
    child.kill('SIGTERM');
  }
  expect(await exited).toEqual([0, null]);
});
