import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { type Client, type ClientOptions, createClient } from './client.ts';
import type { Connection } from './connection.ts';
import { ConnectionClosedError } from './errors.ts';
import { authList } from './generated/procedures.ts';
import { type Replies, servePeer } from './testing/peer.ts';

const cleanups: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function clientOf(replies: Replies, options: Partial<ClientOptions> = {}) {
  const peer = await servePeer(replies);
  cleanups.push(peer.close);
  return { peer, client: make({ socketPath: peer.socketPath, ...options }) };
}

function make(options: Partial<ClientOptions> & { socketPath: string }): Client {
  const backoff = { firstMs: 1, maxMs: 10 };
  const client = createClient({ backoff, ...options } as ClientOptions);
  cleanups.push(() => client.close());
  return client;
}

const callsOf = (packets: { procedure: number }[]) =>
  packets.filter(({ procedure }) => procedure === authList.number).length;

it('the client connects on first use, and only once', async () => {
  const { client, peer } = await clientOf({});
  expect(peer.packets).toEqual([]);
  const [first, second] = await Promise.all([client.connection(), client.connection()]);
  expect(first).toBe(second);
  expect(await client.connection()).toBe(first);
  expect(callsOf(peer.packets)).toBe(1);
});

it('a daemon that cannot be reached fails the caller at once, with the reason', async () => {
  const client = make({ socketPath: join(tmpdir(), 'no-such-folder', 'sock') });
  const reasons: unknown[] = [];
  client.onDisconnected((reason) => reasons.push(reason));
  await expect(client.connection()).rejects.toMatchObject({ code: 'ENOENT' });
  await expect.poll(() => reasons.length).toBeGreaterThan(2);
});

it('a daemon that accepts but does not reply fails the caller within the limit', async () => {
  const { client } = await clientOf(
    { [authList.number]: () => undefined },
    { connectTimeoutMs: 20, backoff: { firstMs: 60_000, maxMs: 60_000 } },
  );
  await expect(client.connection()).rejects.toThrow(/within 20 ms/);
});

it('a lost connection is replaced automatically, and listeners get every new one', async () => {
  const { client, peer } = await clientOf({});
  const seen: Connection[] = [];
  client.onConnected((connection) => void seen.push(connection));
  await client.connection();
  for (const rounds of [2, 3]) {
    for (const socket of peer.sockets) socket.destroy();
    await expect.poll(() => seen.length).toBe(rounds);
  }
  expect(new Set(seen).size).toBe(3);
  expect(await client.connection()).toBe(seen.at(-1));
});

it('a new listener gets the existing connection', async () => {
  const { client } = await clientOf({});
  const connection = await client.connection();
  const seen: Connection[] = [];
  client.onConnected((each) => void seen.push(each));
  expect(seen).toEqual([connection]);
});

it('a listener that fails closes the connection and is called with the next one', async () => {
  const { client } = await clientOf({});
  const reasons: string[] = [];
  let rounds = 0;
  client.onDisconnected((reason) => reasons.push(reason.message));
  client.onConnected(async () => {
    rounds += 1;
    if (rounds === 1) throw new Error('could not subscribe');
  });
  const first = await client.connection();
  await expect.poll(() => rounds).toBe(2);
  expect(reasons).toEqual(['could not subscribe']);
  expect(await client.connection()).not.toBe(first);
});

it('a closed client stays closed, also if an attempt was in progress', async () => {
  const { client, peer } = await clientOf({ [authList.number]: () => undefined });
  const attempt = client.connection();
  await expect.poll(() => callsOf(peer.packets)).toBe(1);
  await client.close();
  await client.close();
  await expect(attempt).rejects.toThrow('the client was closed');
  await expect(client.connection()).rejects.toThrow(ConnectionClosedError);
  await expect.poll(() => peer.sockets.size).toBe(0);
  expect(callsOf(peer.packets)).toBe(1);
});
