import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSender, type Sender } from './send.ts';

const PUBLIC = { allowsPrivate: false, allowsLoopback: false };
const ANY = { allowsPrivate: true, allowsLoopback: true };

let handle: http.RequestListener;
let server: http.Server;
let port: number;
let connections: number;
const senders: Sender[] = [];

beforeEach(async () => {
  connections = 0;
  handle = (_, reply) => void reply.end('ok');
  server = http.createServer((request, reply) => handle(request, reply));
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});
afterEach(() => {
  for (const sender of senders.splice(0)) sender.close();
  server.closeAllConnections();
  server.close();
});

const sender = (options: Partial<Parameters<typeof createSender>[0]> = {}) => {
  const made = createSender({ rules: ANY, connections: 2, limitMs: 20_000, ...options });
  senders.push(made);
  return made;
};
const MESSAGE = { headers: { 'webhook-id': '1' }, body: '{"a":"ü"}' };

describe('what is sent', () => {
  it('the receiver gets the body, its length and the headers, over one connection', async () => {
    const bodies: string[] = [];
    handle = async (request, reply) => {
      const parts = [];
      for await (const part of request) parts.push(part);
      bodies.push(`${request.method} ${request.headers['webhook-id']} ${Buffer.concat(parts)}`);
      reply.end();
    };
    const one = sender();
    for (let count = 0; count < 3; count += 1) {
      const sent = await one.send(`http://127.0.0.1:${port}/`, MESSAGE);
      expect(sent).toMatchObject({ statusCode: 200, error: '' });
    }
    expect(bodies).toEqual(Array(3).fill('POST 1 {"a":"ü"}'));
    expect(connections).toBe(1);
  });

  it('a redirect is not followed', async () => {
    const paths: (string | undefined)[] = [];
    handle = ({ url }, reply) => {
      paths.push(url);
      reply.writeHead(307, { location: `http://127.0.0.1:${port}/elsewhere` }).end();
    };
    const { statusCode, error } = await sender().send(`http://127.0.0.1:${port}/`, MESSAGE);
    expect([statusCode, error]).toEqual([
      307,
      'the receiver replied 307; redirects are not followed',
    ]);
    expect(paths).toEqual(['/']);
  });

  it('a receiver that does not reply in time has failed', async () => {
    handle = () => {};
    const sent = await sender({ limitMs: 100 }).send(`http://127.0.0.1:${port}/`, MESSAGE);
    expect(sent).toMatchObject({
      statusCode: 0,
      error: 'the receiver did not reply within 0.1 seconds',
    });
    handle = (_, reply) => void reply.writeHead(200).write('…');
    const slow = await sender({ limitMs: 100 }).send(`http://127.0.0.1:${port}/`, MESSAGE);
    expect(slow).toMatchObject({ statusCode: 0 });
  });

  it('a reply without an end is cut off', async () => {
    let written = 0;
    handle = (_, reply) => {
      const write = () => {
        while (!reply.destroyed && reply.write(Buffer.alloc(16_384))) written += 16_384;
        if (!reply.destroyed) reply.once('drain', write);
      };
      write();
    };
    const sent = await sender().send(`http://127.0.0.1:${port}/`, MESSAGE);
    expect(sent).toMatchObject({ statusCode: 200, error: '' });
    expect(written).toBeLessThan(100_000_000);
  });

  it('headers without an end are refused', async () => {
    handle = ({ socket }) => void socket.write(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}`);
    const { error } = await sender().send(`http://127.0.0.1:${port}/`, MESSAGE);
    expect(error).toBe('the request failed: HPE_HEADER_OVERFLOW');
  });

  it('a lost connection has failed', async () => {
    handle = ({ socket }) => void socket.destroy();
    const { error } = await sender().send(`http://127.0.0.1:${port}/`, MESSAGE);
    expect(error).toBe('the request failed: ECONNRESET');
  });
});

describe('addresses', () => {
  it.each(['127.0.0.1', '[::ffff:127.0.0.1]', '2130706433', 'localhost'])(
    'no connection is made to %s',
    async (host) => {
      // Names and addresses are refused before a connection, so the scheme does not matter.
      const one = sender({ rules: PUBLIC });
      const { statusCode, error } = await one.send(`https://${host}:${port}/`, MESSAGE);
      expect(statusCode).toBe(0);
      expect(error).toMatch(/may not be sent to|must not be an address/);
      expect(connections).toBe(0);
    },
  );

  it('http is refused unless it is allowed', async () => {
    const { error } = await sender({ rules: PUBLIC }).send('http://example.com/', MESSAGE);
    expect(error).toBe('the URL must begin with https://');
  });

  it('a name is resolved once, and the connection is made to the result', async () => {
    const asked: string[] = [];
    const resolve = async (name: string) => {
      asked.push(name);
      // A second lookup would lead to an address on which nothing listens.
      return [{ address: asked.length === 1 ? '127.0.0.1' : '127.0.0.9', family: 4 }];
    };
    const sent = await sender({ resolve }).send(`http://rebinding.test:${port}/`, MESSAGE);
    expect(sent).toMatchObject({ statusCode: 200, error: '' });
    expect(asked).toEqual(['rebinding.test']);
    expect(connections).toBe(1);
  });

  it('a name whose address has become private is refused at the next connection', async () => {
    const resolve = async () => [{ address: '10.0.0.1', family: 4 }];
    const one = sender({ rules: PUBLIC, resolve });
    const { error } = await one.send(`https://rebinding.test:${port}/`, MESSAGE);
    expect(error).toBe('the name of the URL has an address that requests may not be sent to');
  });
});
