import { afterEach, describe, expect, it } from 'vitest';
import { ApiError, ConnectionError } from './errors.ts';
import {
  quickClient,
  refusal,
  type ScriptEntry,
  type ScriptedServer,
  startScriptedServer,
} from './testing/scripted-server.ts';

const PROJECT = '00000000-0000-4000-8000-000000000001';
const OK: ScriptEntry = { status: 200, body: { name: 'Gantry' } };
const body = { name: 'one', cidr: '10.0.0.0/16' };

let server: ScriptedServer;
afterEach(() => server.stop());

async function clientOf(script: ScriptEntry[], retry = {}) {
  server = await startScriptedServer(script);
  return quickClient(server, { retry });
}

async function errorOf<T extends Error>(
  type: new (...given: never[]) => T,
  work: Promise<unknown>,
): Promise<T> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(type);
  return error as T;
}

const TRANSIENT: [string, ScriptEntry][] = [
  ['a connection that is cut before the reply', 'cut'],
  ['a connection that is cut in the middle of the reply', 'cut-body'],
  ['status 502 of a proxy', { status: 502, body: '<html>' }],
  ['status 503', refusal(503, 'unavailable')],
  ['status 504 of a proxy', { status: 504, body: '<html>' }],
  ['status 429', refusal(429, 'too_many_requests')],
];

describe('a request', () => {
  for (const [what, entry] of TRANSIENT) {
    it(`that reads is repeated after ${what}`, async () => {
      const client = await clientOf([entry, entry, OK]);
      expect(await client.root.get()).toEqual({ name: 'Gantry' });
      expect(server.seen.map(({ key }) => key)).toEqual([undefined, undefined, undefined]);
    });

    it(`that writes is repeated with the same key and body after ${what}`, async () => {
      const client = await clientOf([entry, entry, OK]);
      await client.networks.create({ project_id: PROJECT, body });
      const [first, ...others] = server.seen;
      expect(first?.key).toMatch(/^[0-9a-f]{32}$/);
      expect(others).toHaveLength(2);
      for (const other of others)
        expect([other.line, other.key, other.body]).toEqual([first?.line, first?.key, first?.body]);
    });
  }

  for (const [what, entry] of TRANSIENT.filter(([name]) => name !== 'status 429')) {
    it(`that cannot carry a key is sent once, despite ${what}`, async () => {
      const client = await clientOf([entry, OK]);
      const attempt = client.tokens.grant({
        body: { grant_type: 'password', email: 'a@b.test', password: 'p' },
      });
      await expect(attempt).rejects.toThrow();
      expect(server.seen).toHaveLength(1);
    });
  }

  it('that cannot carry a key is repeated after 429, which refuses it undone', async () => {
    const client = await clientOf([refusal(429, 'too_many_requests'), OK]);
    await client.tokens.grant({ body: { grant_type: 'refresh_token', refresh_token: 'r' } });
    expect(server.seen.map(({ key, bearer }) => [key, bearer])).toEqual([
      [undefined, undefined],
      [undefined, undefined],
    ]);
  });

  it('has another key in each call, unless the caller gives one', async () => {
    const client = await clientOf([OK]);
    const input = { project_id: PROJECT, body };
    await client.networks.create(input);
    await client.networks.create(input);
    await client.networks.create(input, { idempotencyKey: 'mine' });
    const keys = server.seen.map(({ key }) => key);
    expect(new Set(keys).size).toBe(3);
    expect(keys[2]).toBe('mine');
  });

  it('that reads gives the ETag to the caller, who sends it with a write', async () => {
    const client = await clientOf([{ ...OK, headers: { etag: '"read"' } }, OK]);
    const input = { project_id: PROJECT, network_id: PROJECT };
    const etags: string[] = [];
    await client.networks.get(input, { onEtag: (etag) => etags.push(etag) });
    await client.networks.change({ ...input, body: { name: 'two' } }, { ifMatch: etags[0] });
    expect(server.seen.map(({ ifMatch }) => ifMatch)).toEqual([undefined, '"read"']);
  });

  for (const [status, code] of [
    [400, 'bad_request'],
    [409, 'operation_in_progress'],
    [500, 'internal_error'],
  ] as const) {
    it(`is not repeated after status ${status}`, async () => {
      const client = await clientOf([refusal(status, code), OK]);
      const error = await errorOf(ApiError, client.root.get());
      expect([error.status, error.code]).toEqual([status, code]);
      expect(server.seen).toHaveLength(1);
    });
  }

  it('is sent at most as often as the limit allows', async () => {
    const client = await clientOf(['cut'], { attempts: 4 });
    const error = await errorOf(
      ConnectionError,
      client.networks.create({ project_id: PROJECT, body }),
    );
    expect(server.seen).toHaveLength(4);
    expect(error).toMatchObject({ attempts: 4, mayHaveHappened: true });
    expect(error.idempotencyKey).toBe(server.seen[0]?.key);
  });

  it('waits at least as long as Retry-After says', async () => {
    const busy = { ...refusal(429, 'too_many_requests'), headers: { 'retry-after': '1' } };
    const client = await clientOf([busy, OK]);
    await client.root.get();
    const [first, second] = server.seen.map(({ atMs }) => atMs);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(1000);
  });

  it('is not repeated if Retry-After exceeds the limit, and the error has the time', async () => {
    const busy = { ...refusal(429, 'too_many_requests'), headers: { 'retry-after': '3600' } };
    const client = await clientOf([busy, OK]);
    const error = await errorOf(ApiError, client.root.get());
    expect(error.retryAfterMs).toBe(3_600_000);
    expect(server.seen).toHaveLength(1);
  });

  it('is repeated if a reply does not come in time', async () => {
    // On a busy machine further attempts may be too slow.
    const client = await clientOf(['silent', OK], { attemptTimeoutMs: 200, attempts: 100 });
    expect(await client.root.get()).toEqual({ name: 'Gantry' });
    expect(server.seen.length).toBeGreaterThan(1);
  });

  it('follows no redirect', async () => {
    const moved = { status: 301, headers: { location: '/elsewhere' }, body: '' };
    const client = await clientOf([moved, OK]);
    const error = await errorOf(ApiError, client.root.get());
    expect([error.status, error.code]).toEqual([301, 'unexpected_reply']);
    expect(server.seen).toHaveLength(1);
  });
});

describe('an AbortSignal', () => {
  it('ends a request that waits for its reply', async () => {
    const client = await clientOf(['silent']);
    const controller = new AbortController();
    const attempt = client.root.get({}, { signal: controller.signal });
    await expect.poll(() => server.seen.length).toBe(1);
    controller.abort(new Error('enough'));
    await expect(attempt).rejects.toThrow('enough');
    expect(server.seen).toHaveLength(1);
  });

  it('ends the last attempt with its reason, not with a ConnectionError', async () => {
    const client = await clientOf(['silent'], { attempts: 1 });
    const controller = new AbortController();
    const attempt = client.root.get({}, { signal: controller.signal });
    await expect.poll(() => server.seen.length).toBe(1);
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(attempt).rejects.toBe(reason);
  });

  it('ends the wait before a retry', async () => {
    const busy = { ...refusal(503, 'unavailable'), headers: { 'retry-after': '60' } };
    const client = await clientOf([busy]);
    const controller = new AbortController();
    const attempt = client.root.get({}, { signal: controller.signal });
    await expect.poll(() => server.seen.length).toBe(1);
    controller.abort(new Error('enough'));
    await expect(attempt).rejects.toThrow('enough');
    expect(server.seen).toHaveLength(1);
  });

  it('that is aborted before the call lets nothing be sent', async () => {
    const client = await clientOf([OK]);
    const signal = AbortSignal.abort(new Error('too late'));
    await expect(client.root.get({}, { signal })).rejects.toThrow('too late');
    expect(server.seen).toEqual([]);
  });
});

describe('an error', () => {
  it("has the status, code, fields, request id and message of the server's reply", async () => {
    const details = [{ field: 'cidr', reason: 'must be private' }];
    const client = await clientOf([refusal(400, 'bad_request', { details })]);
    const error = await errorOf(ApiError, client.networks.create({ project_id: PROJECT, body }));
    expect(error).toMatchObject({
      ...{ status: 400, code: 'bad_request', field: 'cidr', fields: details, requestId: 'e1' },
      message: 'the message of bad_request',
      request: { method: 'POST', path: `/v0.1/projects/${PROJECT}/vpc/networks` },
    });
  });

  it('says so if the reply is not one of Gantry', async () => {
    for (const page of [
      { status: 200, body: '<html>Welcome</html>' },
      { status: 404, body: '<html>No such page</html>' },
    ]) {
      const client = await clientOf([page]);
      const error = await errorOf(ApiError, client.root.get());
      expect([error.status, error.code]).toEqual([page.status, 'unexpected_reply']);
      expect(error.message).toContain('check that the base URL');
      await server.stop();
    }
    server = await startScriptedServer([OK]);
  });

  it('is thrown for an id that would make the path that of another resource', async () => {
    const client = await clientOf([OK]);
    for (const vm_id of ['..', '.', ''])
      await expect(client.vms.delete({ project_id: PROJECT, vm_id })).rejects.toThrow('vm_id');
    expect(server.seen).toEqual([]);
    await client.vms.delete({ project_id: PROJECT, vm_id: '../../projects' });
    expect(server.seen[0]?.line).toBe(`DELETE /v0.1/projects/${PROJECT}/vms/..%2F..%2Fprojects`);
  });
});
