import { createLog } from '@gantry/daemon/log';
import { connect, type Queryable } from '@gantry/db/connect';
import { readHostSpecs } from '@gantry/db/queries/hosts/host-specs';
import {
  insertRollout,
  listRolloutHosts,
  type RolloutRow,
  readRollout,
  updateRolloutState,
} from '@gantry/db/queries/rollouts/rollouts';
import { newId } from '@gantry/model/ids';
import type { RolloutState } from '@gantry/model/rollouts';
import {
  createTestDatabase,
  PATIENT_CONNECT_S,
  type TestDatabase,
} from '@gantry/testkit/database/test-database';
import { startStatementProxy, type Verdict } from '@gantry/testkit/faults/statement-proxy';
import { addHosts, connectHost } from '@gantry/testkit/make/hosts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { advanceRollouts } from './advance-rollouts.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const log = createLog({ process: 'test', level: 'silent' });
const OLD = '1.0.0';
const NEW = '2.0.0';
const CAPABLE = ['agent_upgrades'];

type Software = { agent: string; capabilities?: string[]; upgrade?: object | null };
const SOFTWARE = { capabilities: CAPABLE, upgrade: null };

const report = (sql: Queryable, hostId: string, software: Software) =>
  sql`update hosts set inventory = jsonb_build_object('software',
    ${JSON.stringify({ ...SOFTWARE, ...software })}::text::jsonb) where id = ${hostId}`;

/** Connected hosts with the old version, in the order of their names, and a rollout to them. */
async function prepare(count: number, fields: Partial<Parameters<typeof insertRollout>[1]> = {}) {
  const { sql } = database;
  const label = newId();
  const hosts = await addHosts(sql, count, { gpus: 1 });
  const ids = hosts.map(({ id }) => id);
  await sql`update hosts set labels = jsonb_build_object('test', ${label}::text) where id = any(${ids}::uuid[])`;
  for (const id of ids) {
    await connectHost(sql, { hostId: id });
    await report(sql, id, { agent: OLD });
  }
  const id = newId();
  await insertRollout(sql, {
    ...{ id, version: NEW, labels: { test: label }, createdBy: newId(), createdAt: new Date() },
    ...{ canaryCount: 1, batchSize: 2, hostTimeLimitS: 60, maxFailures: 0, ...fields },
  });
  return { id, ids };
}

const advance = (sql = database.sql) => advanceRollouts({ sql, log });

const read = async (id: string): Promise<RolloutRow> => {
  const row = await readRollout(database.sql, id);
  if (!row) throw new Error('BUG: the rollout exists');
  return row;
};

const states = async (rolloutId: string) => {
  const rows = await listRolloutHosts(database.sql, {
    ...{ rolloutId, state: null, after: null, limit: 1000 },
  });
  return Object.fromEntries(rows.map((row) => [row.id, row.state]));
};

/** What the specs of hosts order, by host. */
const orders = async (ids: string[]) => {
  const rows = await readHostSpecs(database.sql, ids);
  return rows.flatMap(({ host_id, agent_upgrade }) =>
    agent_upgrade ? [{ hostId: host_id, ...agent_upgrade }] : [],
  );
};

/** Every host does what its spec orders. */
async function obey(ids: string[]) {
  for (const { hostId, version } of await orders(ids))
    await report(database.sql, hostId, { agent: version });
}

const ask = (id: string, state: RolloutState) =>
  updateRolloutState(database.sql, { id, state, reason: '' });

describe('a rollout', () => {
  it('orders one wave at a time, the canaries first, and ends when every host has the version', async () => {
    const { id, ids } = await prepare(5);
    const [canary, second, third, ...last] = ids;
    for (const wave of [[canary], [second, third], last]) {
      await advance();
      await advance();
      expect((await orders(ids)).map(({ hostId }) => hostId).sort()).toEqual(wave.sort());
      await obey(ids);
    }
    expect(await read(id)).toMatchObject({ state: 'running', wave: 2, last_wave: 2 });
    await advance();
    expect(await read(id)).toMatchObject({ state: 'completed', counts: { done: 5 } });
    expect(await orders(ids)).toEqual([]);
  });

  it('raises the spec number of a host with each order and with its end', async () => {
    const { ids } = await prepare(1);
    const number = async () => Number((await readHostSpecs(database.sql, ids))[0]?.number);
    const before = await number();
    await advance();
    expect(await number()).toBe(before + 1);
    await obey(ids);
    await advance();
    expect(await number()).toBe(before + 2);
  });

  it('pauses when more hosts have failed than allowed, and names them', async () => {
    const { id, ids } = await prepare(4, { canaryCount: 0, maxFailures: 1 });
    await advance();
    for (const { hostId, id: order } of await orders(ids)) {
      const failure = { code: 'upgrade_failed', message: 'no such version', sinceMs: '0' };
      const upgrade = { id: order, version: NEW, failure };
      await report(database.sql, hostId, { agent: OLD, upgrade });
    }
    await advance();
    const { state, state_reason } = await read(id);
    expect(state).toBe('paused');
    expect(state_reason).toMatch(/^2 hosts have failed: \S+: no such version; /);
    await advance();
    expect(await read(id)).toMatchObject({ counts: { failed: 2, pending: 2 } });
    expect(await orders(ids)).toEqual([]);
  });

  it('counts a host as failed that does not return within the time limit', async () => {
    const { id, ids } = await prepare(2);
    await advance();
    await database.sql`update hosts set scheduler_id = null where id = ${ids[0] ?? ''}`;
    await advance();
    expect(await states(id)).toMatchObject({ [ids[0] ?? '']: 'updating' });
    await database.sql`update rollout_hosts set ordered_at = now() - interval '61 seconds'
      where rollout_id = ${id} and state = 'updating'`;
    await advance();
    expect(await read(id)).toMatchObject({
      ...{ state: 'paused', counts: { failed: 1, pending: 1 } },
      state_reason: expect.stringContaining('not connected with version 2.0.0 within 60 s'),
    });
  });

  it('does not count a host as done that refuses its spec', async () => {
    const { id, ids } = await prepare(1);
    await advance();
    await obey(ids);
    await database.sql`update hosts set refusal = 'bad spec' where id = ${ids[0] ?? ''}`;
    await advance();
    expect(await states(id)).toEqual({ [ids[0] ?? '']: 'updating' });
  });

  it('skips hosts that are away or cannot replace their agent, and says why', async () => {
    const { sql } = database;
    const { id, ids } = await prepare(3, { canaryCount: 3 });
    const [away = '', old = '', ready = ''] = ids;
    await sql`update hosts set scheduler_id = null where id = ${away}`;
    await report(sql, old, { agent: '0.9.0', capabilities: ['needs'] });
    await advance();
    const rows = await listRolloutHosts(sql, {
      ...{ rolloutId: id, state: 'skipped', after: null, limit: 10 },
    });
    expect(rows.map(({ id: host, reason }) => [host, reason])).toEqual([
      [away, 'it was not connected when its wave began'],
      [old, expect.stringContaining('its agent 0.9.0 cannot replace itself')],
    ]);
    await obey([ready]);
    await advance();
    expect(await read(id)).toMatchObject({ state: 'completed', counts: { skipped: 2, done: 1 } });
  });
});

describe('an ended or changed rollout', () => {
  it('that is cancelled lets hosts finish that have begun, and skips the others', async () => {
    const { id, ids } = await prepare(3);
    await advance();
    await ask(id, 'cancelling');
    await advance();
    expect(await read(id)).toMatchObject({ state: 'cancelling', counts: { updating: 1 } });
    await obey(ids);
    await advance();
    expect(await read(id)).toMatchObject({ state: 'cancelled', counts: { done: 1, skipped: 2 } });
  });

  it('that is rolled back returns the hosts that were told to change, a batch at a time, and no other', async () => {
    const { id, ids } = await prepare(6, { canaryCount: 4, batchSize: 2 });
    await advance();
    await obey(ids);
    await advance();
    await obey(ids.slice(4));
    await ask(id, 'rolling_back');
    for (let round = 0; round < 3; round += 1) {
      await advance();
      const ordered = await orders(ids);
      expect(ordered.map(({ version }) => version)).toEqual([OLD, OLD]);
      await obey(ids);
    }
    await advance();
    expect(await read(id)).toMatchObject({ state: 'rolled_back', counts: { rolled_back: 6 } });
  });

  it('waits for a host whose package manager is at work before it counts as rolled back', async () => {
    const { id, ids } = await prepare(1);
    const [hostId = ''] = ids;
    await advance();
    const [order] = await orders(ids);
    await database.sql`update rollout_hosts set ordered_at = now() - interval '61 seconds' where rollout_id = ${id}`;
    await report(database.sql, hostId, {
      ...{ agent: OLD, upgrade: { id: order?.id, version: NEW, failure: null } },
    });
    await advance();
    await ask(id, 'rolling_back');
    await advance();
    await advance();
    expect(await states(id)).toEqual({ [hostId]: 'rolling_back' });
    await report(database.sql, hostId, {
      agent: OLD,
      upgrade: { id: order?.id, version: NEW, failure: { code: 'upgrade_failed', message: 'x' } },
    });
    await advance();
    expect(await read(id)).toMatchObject({ state: 'rolled_back' });
  });
});

it('a rollout continues wherever the scheduler was killed', { timeout: 120_000 }, async () => {
  const { id, ids } = await prepare(4, { canaryCount: 1, batchSize: 2, maxFailures: 4 });
  let deaths = 0;
  /** Lets a scheduler advance that dies before its nth write, or after its nth commit. Returns whether it died. */
  const dieAt = async (place: number, when: 'die-before' | 'die-after') => {
    let seen = 0;
    let isDead = false;
    const judge = (verdict: Verdict) => () => {
      if (verdict !== when) return 'pass';
      seen += 1;
      return seen === place ? verdict : 'pass';
    };
    const proxy = await startStatementProxy(database.url, {
      ...{ write: judge('die-before'), commit: judge('die-after') },
      died: () => {
        isDead = true;
      },
    });
    const sql = connect({
      ...{ url: proxy.url, name: 'mortal', maxConnections: 1, connectLimitS: PATIENT_CONNECT_S },
    });
    await advance(sql).catch((error) => {
      if (!isDead) throw error;
    });
    await sql.end({ timeout: 0 });
    proxy.close();
    if (isDead) deaths += 1;
    return isDead;
  };
  const untilEnd = async () => {
    for (let step = 0; (await read(id)).ended_at === null; step += 1) {
      expect(step).toBeLessThan(40);
      for (const verdict of ['die-before', 'die-after'] as const) {
        for (let place = 1; await dieAt(place, verdict); place += 1);
      }
      const ordered = await orders(ids);
      expect(ordered.length).toBeLessThanOrEqual(2);
      await obey(ids);
    }
  };
  await untilEnd();
  expect(await read(id)).toMatchObject({ state: 'completed', counts: { done: 4 } });
  await database.sql`update rollout_hosts set active = true where rollout_id = ${id}`;
  await ask(id, 'rolling_back');
  await untilEnd();
  expect(await read(id)).toMatchObject({ state: 'rolled_back', counts: { rolled_back: 4 } });
  expect(deaths).toBeGreaterThan(20);
});
