import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMetadataServer } from './metadata-server.ts';

const GUEST = '127.0.0.1';
const CONTENT = 'instance-id: one\n';

describe('the metadata server', () => {
  let isKnown: boolean;
  let server: ReturnType<typeof createMetadataServer>;
  let port: number;

  beforeEach(async () => {
    isKnown = true;
    server = createMetadataServer({
      isKnown: (guest) => isKnown && guest === GUEST,
      read: async (guest, name) => {
        if (name === 'broken') throw new Error('broken');
        return guest === GUEST && name === 'meta-data' ? Buffer.from(CONTENT) : undefined;
      },
    });
    server.listen(0, GUEST);
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const ask = async (path: string, method = 'GET', headers: OutgoingHttpHeaders = {}) => {
    const host = { host: '169.254.169.254' };
    const sent = httpRequest({
      ...{ port, path, method },
      host: GUEST,
      headers: { ...host, ...headers },
    });
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let content = '';
    for await (const chunk of response) content += chunk;
    return { status: response.statusCode, length: response.headers['content-length'], content };
  };

  it('serves a guest its own file, and its length for HEAD', async () => {
    const length = `${CONTENT.length}`;
    expect(await ask('/meta-data')).toEqual({ status: 200, length, content: CONTENT });
    expect(await ask('/meta-data', 'HEAD')).toEqual({ status: 200, length, content: '' });
  });

  it.each(['/', '/user-data', '/meta-data/', '/meta-data?a', '//meta-data'])(
    'has nothing at %s',
    async (path) => {
      expect(await ask(path)).toMatchObject({ status: 404 });
    },
  );

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('refuses %s', async (method) => {
    expect(await ask('/meta-data', method)).toMatchObject({ status: 405 });
  });

  it('has nothing for requests with another host name', async () => {
    const headers = { host: 'rebound.test' };
    expect(await ask('/meta-data', 'GET', headers)).toMatchObject({ status: 404 });
  });

  it('refuses too many headers', async () => {
    const headers = { 'x-long': 'x'.repeat(5_000) };
    expect(await ask('/meta-data', 'GET', headers)).toMatchObject({ status: 431 });
  });

  it('survives a file that cannot be read', async () => {
    expect(await ask('/broken')).toMatchObject({ status: 500 });
    expect(await ask('/meta-data')).toMatchObject({ status: 200 });
  });

  it('serves nothing to an unknown address', async () => {
    isKnown = false;
    await expect(ask('/meta-data')).rejects.toThrow();
  });

  it('allows eight connections per guest, and accepts another when one has ended', async () => {
    const open = Array.from({ length: 8 }, () => connect(port, GUEST));
    await Promise.all(open.map((socket) => once(socket, 'connect')));
    await expect(ask('/meta-data')).rejects.toThrow();
    open[0]?.destroy();
    await expect
      .poll(() =>
        ask('/meta-data').then(
          ({ status }) => status,
          () => 0,
        ),
      )
      .toBe(200);
    for (const socket of open) socket.destroy();
  });
});
