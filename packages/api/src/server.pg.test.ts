import { connect as connectTcp } from 'node:net';
import { text } from 'node:stream/consumers';
import { createLog } from '@gantry/daemon/log';
import { Metrics } from '@gantry/daemon/metrics/metrics';
import { connect } from '@gantry/db/connect';
import {
  NO_REPOSITORY,
  NO_STRIPE,
  PUBLIC_IMAGES,
  PUBLIC_WEBHOOKS,
} from '@gantry/testkit/api/test-api';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { type ApiServer, startServer } from './server.ts';

let database: TestDatabase;
let server: ApiServer | undefined;
let metrics: Metrics;
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

async function start(processNowMs = () => Date.now()): Promise<string> {
  const settings = {
    databaseUrl: database.url,
    secretKey: 'a secret key for tests, long enough',
    host: '127.0.0.1',
    port: 0,
    publicUrl: undefined,
    logLevel: 'info',
    databaseConnections: 2,
    rateLimit: { perSecond: 1_000, burst: 1_000 },
    organizationRateLimit: { perSecond: 1_000, burst: 1_000 },
    sourceRateLimit: { perSecond: 1_000, burst: 1_000 },
    organizationEventStreams: 10,
    webhooks: PUBLIC_WEBHOOKS,
    imageNetworks: PUBLIC_IMAGES,
    imageUploads: undefined,
    hasImageStore: false,
    trustedProxies: 0,
    signingKeyDays: 30,
    operationDeadlineMs: 600_000,
    ...NO_STRIPE,
    joining: NO_REPOSITORY,
  };
  metrics = new Metrics();
  server = await startServer({ settings, log, metrics, processNowMs });
  return `http://127.0.0.1:${server.port}`;
}

const LOGIN = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ grant_type: 'password', email: 'a@b.test', password: 'x' }),
};

/** Sends bytes as they are, because `fetch` would normalise the path. Returns the JSON reply. */
async function sendHead(port: number, head: string) {
  const socket = connectTcp({ port, host: '127.0.0.1' });
  socket.end(head);
  const reply = await text(socket);
  const [top = '', body = ''] = reply.split('\r\n\r\n');
  return { status: Number(top.split(' ')[1]), top, body: JSON.parse(body) as unknown };
}

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

  it('counts requests by route and status, without tenants', async () => {
    const url = await start();
    const id = '01a1dcf6-0006-767f-9165-872680039855';
    await fetch(`${url}/v0.1/projects/${id}/vms`);
    const rendered = await metrics.render();
    expect(rendered).toMatch(
      /gantry_http_requests_total\{route="\/projects\/\{project_id\}\/vms",method="get",status="401"\} 1/,
    );
    expect(rendered).toContain('\ngantry_database_up 1\n');
    expect(rendered).not.toContain(id);
  });

  it('serves no metrics on the port of tenants', async () => {
    expect((await fetch(`${await start()}/metrics`)).status).toBe(404);
  });

  it('no path has a second form that a proxy would let pass', async () => {
    const { port } = new URL(await start());
    for (const path of ['/docs/%2e%2e/healthz', '/docs/../healthz', '/v0.1/%2E./healthz']) {
      for (const extra of ['', 'Connection: Upgrade\r\nUpgrade: websocket\r\n']) {
        const head = `GET ${path} HTTP/1.1\r\nHost: api.test\r\n${extra}\r\n`;
        const { status, body } = await sendHead(Number(port), head);
        expect([path, status, body]).toEqual([
          path,
          400,
          expect.objectContaining({ code: 'bad_request', details: [expect.anything()] }),
        ]);
      }
    }
  });
});

describe('a process whose clock is wrong', () => {
  it('replies 503 to everything but /healthz, says why, and serves again when its clock is right', async () => {
    let aheadMs = 3_600_000;
    const url = await start(() => Date.now() + aheadMs);
    const why = expect.stringMatching(/^the clock of this process is \d+\.\d s ahead of/);
    const ready = await fetch(`${url}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([503, { status: why }]);
    const login = await fetch(`${url}/v0.1/auth/token`, LOGIN);
    expect([login.status, await login.json()]).toEqual([
      503,
      expect.objectContaining({ code: 'unavailable', message: why }),
    ]);
    expect((await fetch(`${url}/billing/any`)).status).toBe(503);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    aheadMs = 0;
    await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(200);
    expect((await fetch(`${url}/v0.1/auth/token`, LOGIN)).status).toBe(401);
  });
});

describe('stopping', () => {
  it('finishes requests that have begun, refuses new ones, then closes', async () => {
    const url = await start();
    let unlock = () => {};
    const unlocked = new Promise<void>((resolve) => {
      unlock = resolve;
    });
    let hold = () => {};
    const held = new Promise<void>((resolve) => {
      hold = resolve;
    });
    // A login waits while another transaction has locked the table of users.
    const holder = database.sql.begin(async (tx) => {
      await tx`lock table users in access exclusive mode`;
      hold();
      await unlocked;
    });
    await held;
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
