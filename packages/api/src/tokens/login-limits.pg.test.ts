import { newId } from '@gantry/model/ids';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLoginBudgets } from '../auth/login-budget.ts';
import { hashPassword } from '../auth/passwords.ts';
import { createRateLimiter } from '../base/rate-limit.ts';

let api: TestApi;
let userId: string;
const EMAIL = 'ada@example.test';
const PASSWORD = 'correct horse battery';
const HOME = '192.0.2.7';

beforeEach(async () => {
  api = await startTestApi({ trustedProxies: 1 });
  userId = newId();
  await api.sql`insert into users (id, email, password_hash)
    values (${userId}, ${EMAIL}, ${await hashPassword(PASSWORD)})`;
});
afterEach(() => api.stop());

const grant = (body: unknown, from: string) =>
  api.call('POST', '/auth/token', {
    body,
    headers: { 'x-forwarded-for': from, 'user-agent': 'a browser' },
  });
const logIn = (from: string, { email = EMAIL, password = PASSWORD } = {}) =>
  grant({ grant_type: 'password', email, password }, from);
const guess = async (from: string, email = EMAIL) =>
  (await logIn(from, { email, password: 'not the password' })).status;

/** Guesses from addresses that all differ; by default all are in one /16. */
async function guessMany(
  count: number,
  { email = EMAIL, from = (n: number) => `198.51.${n >> 8}.${n & 255}` } = {},
) {
  const statuses: number[] = [];
  for (let n = 0; n < count; n += 1) statuses.push(await guess(from(n), email));
  return statuses;
}
const tried = (statuses: number[]) => statuses.filter((status) => status === 401).length;
const everywhere = (n: number) => `${1 + (n % 200)}.${(n * 7) % 256}.1.1`;

describe('guesses at one account from many addresses', () => {
  it('do not keep the owner out of an address that the owner has used', async () => {
    expect((await logIn(HOME)).status).toBe(200);
    const statuses = await guessMany(200, { from: everywhere });
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    for (let n = 0; n < 25; n += 1) expect((await logIn(HOME)).status).toBe(200);
  });

  it('from a few networks do not keep the owner out of a new network', async () => {
    await guessMany(60);
    expect(await guess('198.51.77.1')).toBe(429);
    // The reserve of a network is its own, unless it happens to share it with the attacker's.
    const statuses = [];
    for (const network of ['203.0', '100.64', '10.9', '172.20']) {
      statuses.push((await logIn(`${network}.113.5`)).status);
    }
    expect(statuses).toContain(200);
  });

  it('are tried at most 100 times in any hour, whatever the addresses are', async () => {
    const budgets = createLoginBudgets({ sql: api.sql, secrets: api.deps.secrets });
    let taken = 0;
    for (let minute = 0; minute <= 60; minute += 1) {
      for (let n = 0; n < 16; n += 1) {
        const source = everywhere(n * 13);
        await budgets.take({ account: userId, source, known: false }).then(
          () => {
            taken += 1;
          },
          () => {},
        );
      }
      await api.sql`update login_budgets set updated_at = updated_at - interval '1 minute'`;
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 });
    }
    vi.useRealTimers();
    expect(taken).toBeGreaterThan(80);
    expect(taken).toBeLessThanOrEqual(100);
  });

  it('are counted by all api processes together', async () => {
    const take = () => {
      const budgets = createLoginBudgets({ sql: api.sql, secrets: api.deps.secrets });
      return budgets.take({ account: userId, source: '198.51.100.1', known: false }).then(
        () => true,
        () => false,
      );
    };
    const results = [];
    for (let n = 0; n < 40; n += 1) results.push(await take());
    expect(results.filter(Boolean)).toHaveLength(22);
  });

  it('look the same for an e-mail address without a user', async () => {
    const known = await guessMany(40);
    const unknown = await guessMany(40, { email: 'nobody@example.test' });
    expect(unknown).toEqual(known);
    expect(tried(known)).toBe(22);
  });

  it('are refused before a hash is computed', async () => {
    const run = vi.spyOn(api.deps.hashQueue, 'run');
    const statuses = await guessMany(60);
    expect(run).toHaveBeenCalledTimes(tried(statuses));
  });
});

it('an attempt with the right password does not count', async () => {
  for (let n = 0; n < 30; n += 1) expect((await logIn(`203.0.113.${n}`)).status).toBe(200);
});

it('a known source that guesses has a limit of its own', async () => {
  await logIn(HOME);
  const statuses = [];
  for (let n = 0; n < 30; n += 1) statuses.push(await guess(HOME));
  expect(tried(statuses)).toBe(20);
  expect(await guess('203.0.113.9')).toBe(401);
});

it('refreshing tokens makes a source known, too', async () => {
  const { body } = await logIn(HOME);
  const moved = '203.0.113.50';
  await grant({ grant_type: 'refresh_token', refresh_token: body.refresh_token }, moved);
  await guessMany(120, { from: everywhere });
  expect((await logIn(moved)).status).toBe(200);
});

describe('the limits of one source', () => {
  it('apply to logins and to refreshes of the whole /64, whichever account they name', async () => {
    const limiter = createRateLimiter({ perSecond: 1, burst: 5, now: () => 0 });
    const limited = await startTestApi({ trustedProxies: 1, loginLimiter: limiter });
    const send = async (body: object, n: number) =>
      (
        await limited.call('POST', '/auth/token', {
          body,
          headers: { 'x-forwarded-for': `2001:db8:1:2::${n}` },
        })
      ).status;
    for (const body of [
      (n: number) => ({ grant_type: 'password', email: `${n}@example.test`, password: 'x' }),
      () => ({ grant_type: 'refresh_token', refresh_token: 'x' }),
    ]) {
      const statuses = [];
      for (let n = 0; n < 7; n += 1) statuses.push(await send(body(n), n));
      expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429]);
    }
    await limited.stop();
  });

  it('apply to all requests before they are authenticated, and wrong bearers count more', async () => {
    const limiter = createRateLimiter({ perSecond: 1, burst: 50, now: () => 0 });
    const limited = await startTestApi({ trustedProxies: 1, sourceLimiter: limiter });
    const send = (from: string) =>
      limited.call('GET', '', { bearer: 'wrong', headers: { 'x-forwarded-for': from } });
    expect((await send(HOME)).status).toBe(401);
    expect((await send(HOME)).status).toBe(401);
    expect((await send(HOME)).status).toBe(401);
    const refused = await send(HOME);
    expect([refused.status, refused.body.code]).toEqual([429, 'too_many_requests']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await send('192.0.2.8')).status).toBe(401);
    await limited.stop();
  });
});

describe('the audit log', () => {
  const lines = () =>
    api.sql`select actor_type, actor_id, actor, action, resource_id, source_ip, user_agent, attempts, status
      from audit_logs where action = 'tokens.grant' order by id`;

  it('has every attempt with its address and its client, and no password', async () => {
    const { body } = await logIn(HOME);
    await guess('198.51.100.9');
    await guess('198.51.100.9', 'nobody@example.test');
    await grant({ grant_type: 'refresh_token', refresh_token: body.refresh_token }, HOME);
    await grant({ grant_type: 'refresh_token', refresh_token: body.refresh_token }, '2001:db8::1');
    await api.deps.loginLog.stop();
    const shared = { action: 'tokens.grant', user_agent: 'a browser', attempts: 1 };
    const ada = { ...shared, actor_type: 'user', actor_id: userId, actor: EMAIL };
    const nobody = { actor_type: 'anonymous', actor_id: null, actor: 'nobody@example.test' };
    const seen = await lines();
    expect(seen).toHaveLength(5);
    for (const line of [
      { ...ada, resource_id: 'password', source_ip: HOME, status: 200 },
      { ...ada, resource_id: 'password', source_ip: '198.51.100.9', status: 401 },
      { ...shared, ...nobody, resource_id: 'password', source_ip: '198.51.100.9', status: 401 },
      { ...ada, resource_id: 'refresh_token', source_ip: HOME, status: 200 },
      { ...ada, resource_id: 'refresh_token', source_ip: '2001:db8::1', status: 401 },
    ])
      expect(seen).toContainEqual(line);
    const [stored] = await api.sql`select json_agg(a)::text as lines from audit_logs a`;
    for (const secret of [PASSWORD, 'not the password', body.refresh_token]) {
      expect(stored?.['lines']).not.toContain(secret);
    }
  });

  it('counts refused attempts of one address in one line', async () => {
    const statuses = await guessMany(60, { from: () => '198.51.100.9' });
    await api.deps.loginLog.stop();
    const seen = await lines();
    const attempts = seen.reduce((sum, line) => sum + Number(line['attempts']), 0);
    expect(attempts).toBe(60);
    const refused = seen.filter((line) => line['status'] === 429);
    expect(refused.length).toBeLessThanOrEqual(2);
    expect(seen.filter((line) => line['status'] === 401)).toHaveLength(tried(statuses));
  });

  it('shows operators the attempts of all accounts', async () => {
    await logIn(HOME);
    const operatorId = newId();
    await api.sql`insert into users (id, email, password_hash, operator)
      values (${operatorId}, 'operator@gantry.test', 'none', true)`;
    const { body } = await api.call('GET', '/admin/audit-logs?action=tokens.grant', {
      bearer: await api.deps.tokens.issue(operatorId),
    });
    expect(body.items).toMatchObject([{ actor: EMAIL, source_ip: HOME, attempts: 1, status: 200 }]);
  });
});
