import { type ApiServer, startServer } from '@gantry/api/server';
import { createLog } from '@gantry/daemon/log';
import { KIB } from '@gantry/daemon/units';
import {
  NO_REPOSITORY,
  NO_STRIPE,
  PUBLIC_IMAGES,
  PUBLIC_WEBHOOKS,
  startTestApi,
  type TestApi,
} from '@gantry/testkit/api/test-api';
import { makeTenant, type TestTenant } from '@gantry/testkit/make/tenants';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { holds } from './property.ts';
import { type RawReply, sendRaw } from './raw-client.ts';
import { RUNS, SEED, seedOf, TIMEOUT_MS } from './settings.ts';

/** Sends bytes that no correct client sends, to a server that listens. */
let api: TestApi;
let server: ApiServer;
let tenant: TestTenant;
const crashes: unknown[] = [];
const noteCrash = (error: unknown) => void crashes.push(error);

beforeAll(async () => {
  api = await startTestApi();
  tenant = await makeTenant(api, 'raw');
  server = await startServer({ settings: settings(api.databaseUrl), log: silent });
  process.on('uncaughtException', noteCrash).on('unhandledRejection', noteCrash);
});
afterAll(async () => {
  process.off('uncaughtException', noteCrash).off('unhandledRejection', noteCrash);
  await server.stop();
  await api.stop();
});
afterEach(async () => {
  expect(crashes.splice(0)).toEqual([]);
  expect(await (await fetch(`http://127.0.0.1:${server.port}/healthz`)).json()).toEqual({
    status: 'ok',
  });
});

const silent = createLog({ process: 'api', level: 'silent' });
const settings = (databaseUrl: string) => ({
  ...{ databaseUrl, secretKey: 'a secret key for tests, long enough', databaseConnections: 4 },
  ...{ host: '127.0.0.1', port: 0, publicUrl: undefined, logLevel: 'silent', trustedProxies: 0 },
  ...{
    rateLimit: { perSecond: 1e6, burst: 1e6 },
    organizationRateLimit: { perSecond: 1e6, burst: 1e6 },
    sourceRateLimit: { perSecond: 1e6, burst: 1e6 },
    organizationEventStreams: 10,
    webhooks: PUBLIC_WEBHOOKS,
    imageNetworks: PUBLIC_IMAGES,
    imageUploads: undefined,
    hasImageStore: false,
    signingKeyDays: 30,
    operationDeadlineMs: 600_000,
  },
  joining: NO_REPOSITORY,
  ...NO_STRIPE,
});

const LIMIT = 256 * KIB;
const lines = (...all: string[]) => `${all.join('\r\n')}\r\n`;
const vms = () => `/v0.1/projects/${tenant.projectId}/vms`;
const bearer = () => `Authorization: Bearer ${tenant.accessKey}`;
const head = (requestLine: string, ...headers: string[]) =>
  lines(`${requestLine} HTTP/1.1`, 'Host: api.test', bearer(), ...headers, '');
const post = (...headers: string[]) =>
  head(`POST ${vms()}`, 'Content-Type: application/json', ...headers);
const chunk = (size: number) => `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`;

/** Expects a reply below 500 or a closed connection: never 5xx, never silence. */
function expectHandled({ statuses, closed, text }: RawReply): void {
  for (const status of statuses) expect(status, text).toBeLessThan(500);
  expect(statuses.length > 0 || closed, 'neither replied nor closed').toBe(true);
}

/** Expects the error body of the contract, and returns its code. */
function expectErrorBody({ text }: RawReply): string {
  const [top = '', body = ''] = text.split('\r\n\r\n');
  expect(top.toLowerCase()).toContain('content-type: application/json');
  const error = JSON.parse(body) as { code: string; error_id: string };
  expect(error).toMatchObject({ code: expect.any(String), message: expect.any(String) });
  expect(top.toLowerCase()).toContain(`x-request-id: ${error.error_id}`);
  return error.code;
}

describe('bodies', () => {
  it('a chunked body past the limit is refused before it ends', async () => {
    const chunks = Array.from({ length: 5 }, () => chunk(64 * KIB));
    const reply = await sendRaw(server.port, [post('Transfer-Encoding: chunked'), ...chunks]);
    expect(reply.statuses[0] === 413 || reply.closed, reply.text).toBe(true);
    expectHandled(reply);
  });

  it('a chunked body past the limit is refused for a caller without a credential as well', async () => {
    const request = lines(
      ...['POST /v0.1/auth/token HTTP/1.1', 'Host: a', 'Content-Type: application/json'],
      ...['Transfer-Encoding: chunked', ''],
    );
    const chunks = Array.from({ length: 80 }, () => chunk(64 * KIB));
    const reply = await sendRaw(server.port, [request, ...chunks, '0\r\n\r\n']);
    expect(reply.statuses[0] === 413 || reply.closed, reply.text).toBe(true);
    expectHandled(reply);
  });

  it('an announced length past the limit is refused unread', async () => {
    const reply = await sendRaw(server.port, [post(`Content-Length: ${LIMIT + 1}`)]);
    expect(reply.statuses).toEqual([413]);
  });

  it('a body that ends before its length is no request', async () => {
    const reply = await sendRaw(server.port, [post('Content-Length: 100'), '{"name":'], {
      halfClose: true,
    });
    expectHandled(reply);
    expect(reply.statuses).not.toContain(200);
  });

  it('what follows a body that is longer than its length is not part of it', async () => {
    const reply = await sendRaw(server.port, [post('Content-Length: 2'), '{}{"name":"a"}'], {
      replies: 2,
    });
    expect(reply.statuses[0]).toBe(400);
    expectHandled(reply);
  });
});

describe('heads', () => {
  const refused: [string, () => (string | Buffer)[]][] = [
    ['no request line', () => ['\r\n\r\n\r\n\r\nnonsense\r\n\r\n']],
    ['binary', () => [Buffer.from(Array.from({ length: 512 }, (_, i) => i % 256))]],
    ['a TLS hello', () => [Buffer.from('160301007a0100', 'hex'), 'x'.repeat(200), '\r\n\r\n']],
    ['an unknown method', () => [head('BREW /v0.1')]],
    ['CONNECT', () => [lines('CONNECT api.test:443 HTTP/1.1', 'Host: api.test', '')]],
    ['a future version', () => [lines('GET /v0.1 HTTP/9.9', 'Host: a', '')]],
    ['two lengths', () => [post('Content-Length: 2', 'Content-Length: 3'), '{}']],
    ['a length and chunks', () => [post('Content-Length: 2', 'Transfer-Encoding: chunked'), '{}']],
    ['a negative length', () => [post('Content-Length: -1'), '{}']],
    ['a chunk size that is no number', () => [post('Transfer-Encoding: chunked'), 'zz\r\n{}\r\n']],
    ['a very long header', () => [head('GET /v0.1', `X-Long: ${'x'.repeat(200 * KIB)}`)]],
    [
      'very many headers',
      () => [head('GET /v0.1', ...Array.from({ length: 5_000 }, (_, i) => `X-${i}: 1`))],
    ],
    ['a very long path', () => [head(`GET /v0.1/${'x'.repeat(100 * KIB)}`)]],
    ['a header without a name', () => [head('GET /v0.1', ': value')]],
    ['a NUL in a header', () => [head('GET /v0.1', 'X-Nul: a\0b')]],
    ['no host', () => [lines('GET /v0.1 HTTP/1.1', '')]],
    ['a host that is none', () => [lines('GET /v0.1 HTTP/1.1', 'Host: [::', bearer(), '')]],
    ['a folded header', () => [head('GET /v0.1', 'X-Fold: a', ' b')]],
  ];
  it.each(refused)('%s gets an error reply or a closed connection', async (_, bytes) => {
    const reply = await sendRaw(server.port, bytes());
    expectHandled(reply);
    expect(reply.statuses).not.toContain(200);
    if (reply.statuses.length > 0) expectErrorBody(reply);
  });

  it('a malformed request gets an error reply with its reason, and then a closed connection', async () => {
    const replies = {
      malformed: await sendRaw(server.port, ['nonsense\r\n\r\n'], { replies: 2 }),
      headers: await sendRaw(server.port, [head('GET /v0.1', `X: ${'x'.repeat(20 * KIB)}`)]),
      host: await sendRaw(server.port, [lines('GET /v0.1 HTTP/1.1', '')]),
      expectation: await sendRaw(server.port, [head('GET /v0.1', 'Expect: miracles')]),
    };
    expect(replies.malformed.closed).toBe(true);
    const codes = Object.entries(replies).map(([name, reply]) => [name, expectErrorBody(reply)]);
    expect(Object.fromEntries(codes)).toEqual({
      malformed: 'bad_request',
      headers: 'request_too_large',
      host: 'bad_request',
      expectation: 'bad_request',
    });
  });

  const accepted: [string, () => string[]][] = [
    ['an absolute URI', () => [head('GET http://elsewhere.test/v0.1')]],
    [
      'the same header twice',
      () => [head('GET /v0.1', 'Accept: a', 'Accept: b', 'X-A: 1', 'X-A: 2')],
    ],
    ['a head in many pieces', () => [...head('GET /v0.1')]],
    ['HTTP/1.0', () => [lines('GET /v0.1 HTTP/1.0', 'Host: a', bearer(), '')]],
  ];
  it.each(accepted)('%s gets a reply', async (_, bytes) => {
    expect((await sendRaw(server.port, bytes())).statuses).toEqual([200]);
  });

  it('two credentials are not one of them', async () => {
    const reply = await sendRaw(server.port, [head('GET /v0.1', 'Authorization: Bearer x')]);
    expectHandled(reply);
  });

  it('requests in one packet get their replies in order', async () => {
    const requests = [head('GET /v0.1'), head('GET /v0.1/nothing'), head('GET /v0.1/locations')];
    const reply = await sendRaw(server.port, [requests.join('')], { replies: 3 });
    expect(reply.statuses).toEqual([200, 404, 200]);
  });
});

it(`bytes of any kind never crash the server (seed ${SEED})`, { timeout: TIMEOUT_MS }, async () => {
  const target = fc.constantFrom(
    '/v0.1',
    '*',
    '//',
    'http://',
    '/v0.1/%',
    '/../..',
    '?',
    '/\u00ff',
  );
  const header = fc.tuple(
    fc.constantFrom(
      'Host',
      'Content-Length',
      'Transfer-Encoding',
      'Expect',
      'Upgrade',
      'Connection',
    ),
    fc.constantFrom(
      '',
      '0',
      '5',
      'chunked',
      '100-continue',
      'h2c',
      'Upgrade',
      'close',
      '\u00ff',
      '[',
      'a b',
    ),
  );
  const request = fc
    .tuple(
      fc.constantFrom('GET', 'POST', 'OPTIONS', 'HEAD', 'TRACE', 'DELETE', 'PRI', 'get'),
      target,
      fc.array(header, { maxLength: 4 }),
      fc.uint8Array({ maxLength: 64 }),
    )
    .map(([method, path, headers, body]) =>
      Buffer.concat([
        Buffer.from(
          lines(`${method} ${path} HTTP/1.1`, ...headers.map((h) => h.join(': ')), ''),
          'latin1',
        ),
        body,
      ]),
    );
  await holds({
    arbitrary: request,
    seed: seedOf('raw'),
    runs: RUNS * 2,
    async examine(bytes) {
      // Ends the input, so that the server does not wait for the rest of a body.
      const reply = await sendRaw(server.port, [bytes], { halfClose: true });
      const bad = reply.statuses.filter((status) => status >= 500);
      if (bad.length === 0 && crashes.length === 0 && (reply.closed || reply.statuses.length > 0))
        return;
      throw new Error(
        `${JSON.stringify(bytes.toString('latin1'))}\n-> ${JSON.stringify(reply)} ${crashes}`,
      );
    },
  });
});
