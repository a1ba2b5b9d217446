import { createLog } from '@gantry/daemon/log';
import { connect } from '@gantry/db/connect';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { type ApiServer, startServer } from './server.ts';

let database: TestDatabase;
let server: ApiServer | undefined;
const lines: string[] = [];
const log = createLog({ process: 'api', destination: { write: (line) => void lines.push(line) } });

beforeAll(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  await server?.stop();
  server = undefined;
});
afterAll(() => database.drop());

async function start(): Promise<string> {
  const settings = {
    databaseUrl: database.url,
    secretKey: 'a secret key for tests, long enough',
    host: '127.0.0.1',
    port: 0,
    publicUrl: undefined,
    logLevel: 'info',
    databaseConnections: 2,
    rateLimit: { perSecond: 1_000, burst: 1_000 },
    trustedProxies: 0,
    signingKeyDays: 30,
    operationDeadlineMs: 600_000,
    stripe: { secretKey: undefined, apiUrl: undefined },
  };
  server = await startServer({ settings, log });
  return `http://127.0.0.1:${server.port}`;
}

const LOGIN = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ grant_type: 'password', email: 'a@b.test', password: 'x' }),
};

/** Blocks or allows connections of the api to the database. */
async function allowConnections(allowed: boolean): Promise<void> {
  const admin = connect({ url: inject('databaseServer'), name: 'admin', maxConnections: 1 });
  const name = new URL(database.url).pathname.slice(1);
  await admin.unsafe(`alter database ${name} with allow_connections ${allowed}`);
  if (!allowed) {
    await admin`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'gantry-api' and datname = ${name}`;
  }
  await admin.end();
}

describe('the pages for load balancers and monitoring', () => {
  it('/healthz reports that the process is alive, and /readyz that the database is reachable', async () => {
    const url = await start();
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    await allowConnections(false);
    await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(503);
    const refused = await fetch(`${url}/v0.1/auth/token`, LOGIN);
    expect([refused.status, (await refused.json()) as object]).toEqual([
      503,
      expect.objectContaining({ code: 'unavailable' }),
    ]);
    await allowConnections(true);
    await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(200);
  });

  it('idle connections stay open longer than load balancers use them', async () => {
    const reply = await fetch(`${await start()}/healthz`);
    expect(reply.headers.get('keep-alive')).toBe('timeout=75');
  });

  it('/metrics counts requests by route and status, without tenants', async () => {
    const url = await start();
    const id = '01a1dcf6-0006-767f-9165-872680039855';
    await fetch(`${url}/v0.1/projects/${id}/vms`);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toMatch(
      /gantry_http_requests_total\{route="\/projects\/\{project_id\}\/vms",method="get",status="401"\} 1/,
    );
    expect(metrics).not.toContain(id);
  });
});

describe('stopping', () => {
  it('finishes requests that have begun, refuses new ones, then closes', async () => {
    const url = await start();
    let unlock = () => {};
    const locked = new Promise<void>((resolve) => {
      unlock = resolve;
    });
    // A login waits while another transaction has locked the table of users.
    const holder = database.sql.begin(async (tx) => {
      await tx`lock table users in access exclusive mode`;
      await locked;
    });
    const begun = fetch(`${url}/v0.1/auth/token`, LOGIN);
    await expect
      .poll(() => database.sql`select from pg_locks where not granted`.then((rows) => rows.length))
      .toBeGreaterThan(0);

    const stopped = server?.stop();
    server = undefined;
    await expect.poll(() => fetch(`${url}/healthz`).catch(() => 'refused')).toBe('refused');
    const order: string[] = [];
    const replied = begun.then(({ status }) => order.push(`replied ${status}`));
    const left = stopped?.then(() => order.push('stopped'));
    unlock();
    await Promise.all([holder, replied, left]);
    expect(order).toEqual(['replied 401', 'stopped']);
  });
});

it('a request writes one line of JSON with its id and without its bearer', async () => {
  const url = await start();
  const bearer = 'gantry_ak_0123456789abcdefghijklmnopqrstuvABCDEF';
  const reply = await fetch(`${url}/v0.1`, { headers: { authorization: `Bearer ${bearer}` } });
  const requestId = reply.headers.get('x-request-id') ?? 'none';
  await expect.poll(() => lines.filter((line) => line.includes(requestId)).length).toBe(1);
  expect(lines.join('')).not.toContain(bearer.slice(10));
});
