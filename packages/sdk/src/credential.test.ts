import { afterEach, describe, expect, it } from 'vitest';
import { memoryTokenStore, NotLoggedInError, type Tokens } from './credential.ts';
import {
  quickClient,
  refusal,
  type ScriptedServer,
  type SeenRequest,
  startScriptedServer,
} from './testing/scripted-server.ts';

let server: ScriptedServer;
afterEach(() => server.stop());

const HOUR_MS = 3_600_000;
const tokens = (number: number, expires_at_ms = Date.now() + HOUR_MS): Tokens => ({
  ...{ access_token: `access-${number}`, refresh_token: `refresh-${number}`, expires_at_ms },
});

/** Accepts the newest access token and each refresh token once, as the API does. */
function tokenServer(newest: number) {
  let current = newest;
  return (request: SeenRequest) => {
    if (request.line.endsWith('/auth/token')) {
      const { refresh_token } = JSON.parse(request.body);
      if (refresh_token !== undefined && refresh_token !== `refresh-${current}`)
        return refusal(401, 'bad_credential');
      current += 1;
      const { expires_at_ms, ...fresh } = tokens(current);
      return { status: 200, body: { ...fresh, expires_in: 3600, token_type: 'bearer' } };
    }
    if (request.bearer !== `access-${current}`) return refusal(401, 'bad_credential');
    return { status: 200, body: {} };
  };
}
const grants = () => server.seen.filter(({ line }) => line.endsWith('/auth/token'));

describe('a client with a token store', () => {
  it('logs in with a password and sends the access token', async () => {
    server = await startScriptedServer(tokenServer(0));
    const store = memoryTokenStore();
    const client = quickClient(server, { credential: { tokens: store } });
    await expect(client.root.get()).rejects.toThrow(NotLoggedInError);
    await client.logIn({ email: 'a@b.test', password: 'secret' });
    await client.root.get();
    expect(server.seen.map(({ line, bearer }) => [line, bearer])).toEqual([
      ['POST /v0.1/auth/token', undefined],
      ['GET /v0.1', 'access-1'],
    ]);
    expect(await store.read()).toMatchObject({ refresh_token: 'refresh-1' });
  });

  it('refreshes a token that expires soon once, however many requests need it', async () => {
    server = await startScriptedServer(tokenServer(1));
    const store = memoryTokenStore(tokens(1, Date.now() + 1_000));
    const client = quickClient(server, { credential: { tokens: store } });
    await Promise.all(Array.from({ length: 10 }, () => client.root.get()));
    expect(grants()).toHaveLength(1);
    expect(await store.read()).toMatchObject({ access_token: 'access-2' });
  });

  it('refreshes a token that the server refuses once, and repeats the requests', async () => {
    server = await startScriptedServer(tokenServer(1));
    const stale = { ...tokens(1), access_token: 'ended' };
    const client = quickClient(server, { credential: { tokens: memoryTokenStore(stale) } });
    const create = () => client.organizations.create({ body: { name: 'acme' } });
    await Promise.all(Array.from({ length: 10 }, create));
    expect(grants()).toHaveLength(1);
    const done = server.seen.filter(({ bearer }) => bearer === 'access-2');
    const refused = server.seen.filter(({ bearer }) => bearer === 'ended');
    expect(done).toHaveLength(10);
    const keys = new Set(done.map(({ key }) => key));
    for (const { key } of refused) expect(keys).toContain(key);
  });

  it("throws the server's error if the login has ended", async () => {
    server = await startScriptedServer(tokenServer(7));
    const client = quickClient(server, { credential: { tokens: memoryTokenStore(tokens(1)) } });
    await expect(client.root.get()).rejects.toMatchObject({ code: 'bad_credential' });
    expect(server.seen).toHaveLength(2);
  });

  it('keeps the new tokens if the request that needed them is aborted', async () => {
    const replies = tokenServer(1);
    let open = () => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    server = await startScriptedServer(async (request) => {
      if (request.line.endsWith('/auth/token')) await opened;
      return replies(request);
    });
    const store = memoryTokenStore(tokens(1, 0));
    const client = quickClient(server, { credential: { tokens: store } });
    const controller = new AbortController();
    const attempt = client.root.get({}, { signal: controller.signal });
    await expect.poll(() => grants().length).toBe(1);
    controller.abort(new Error('enough'));
    open();
    await expect(attempt).rejects.toThrow('enough');
    expect(await store.read()).toMatchObject({ refresh_token: 'refresh-2' });
  });
});

describe('a client with another credential', () => {
  it('does not repeat a request whose access key is refused', async () => {
    server = await startScriptedServer([refusal(401, 'bad_credential')]);
    await expect(quickClient(server).root.get()).rejects.toMatchObject({ status: 401 });
    expect(server.seen).toHaveLength(1);
  });

  it('asks a provider again if its secret is refused', async () => {
    const secrets = ['old', 'new'];
    server = await startScriptedServer(({ bearer }) =>
      bearer === 'new' ? { status: 200 } : refusal(401, 'bad_credential'),
    );
    const bearer = () => secrets.shift() ?? 'none';
    await quickClient(server, { credential: { bearer } }).root.get();
    expect(server.seen.map((request) => request.bearer)).toEqual(['old', 'new']);
  });

  it('cannot log in', async () => {
    server = await startScriptedServer([{ status: 200 }]);
    const login = { email: 'a@b.test', password: 'secret' };
    await expect(quickClient(server).logIn(login)).rejects.toThrow('token store');
    expect(server.seen).toEqual([]);
  });
});
