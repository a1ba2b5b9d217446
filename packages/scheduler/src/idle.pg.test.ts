import { createLog } from '@gantry/daemon/log';
import { createSecrets } from '@gantry/daemon/secrets';
import { createTestDatabase } from '@gantry/testkit/database/test-database';
import { expect, it } from 'vitest';
import { type SchedulerOptions, startScheduler } from './scheduler.ts';

const STEADY: SchedulerOptions['watch'] = {
  nowMs: () => Date.now(),
  clockProblem: () => null,
  steadyMs: () => Number.POSITIVE_INFINITY,
};
const LOCATIONS = 40;

it('an idle scheduler asks for nothing per location', async () => {
  const database = await createTestDatabase();
  const asked = new Map<string, number>();
  const { sql } = database;
  await sql`insert into locations (name, region, zone)
    select 'idle-' || i, 'idle', 'z' || i from generate_series(1, ${LOCATIONS}::int) i`;
  const counting = new Proxy(sql, {
    apply(target, self, args) {
      const [text] = args;
      if (Array.isArray(text?.raw)) {
        const name = text.join('?').trim().slice(0, 60);
        asked.set(name, (asked.get(name) ?? 0) + 1);
      }
      return Reflect.apply(target, self, args);
    },
  });
  const scheduler = await startScheduler({
    sql: counting,
    watch: STEADY,
    log: createLog({ process: 'test', level: 'silent' }),
    secrets: createSecrets('0123456789abcdef0123456789abcdef'),
    fleet: { host: '127.0.0.1', port: 0, names: ['localhost'] },
    certificateTtlMs: 3_600_000,
    leaseTtlMs: 60_000,
    unreachableAfterMs: 30_000,
    pollMs: 100,
  });
  try {
    await expect.poll(() => scheduler.locations().length).toBeGreaterThanOrEqual(LOCATIONS);
    const polls = () => [...asked].find(([text]) => text.includes('s.unplaced'))?.[1] ?? 0;
    // The first runs of all placers end meanwhile.
    const warm = polls() + 20;
    await expect.poll(polls).toBeGreaterThan(warm);
    asked.clear();
    await expect.poll(polls).toBeGreaterThan(20);
    for (const [text, count] of asked) expect(count, text).toBeLessThan(2 * LOCATIONS);
    expect([...asked.keys()].filter((text) => text.includes('pending (id)'))).toEqual([]);
  } finally {
    await scheduler.stop();
    await database.drop();
  }
});
