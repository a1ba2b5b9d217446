import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { askNameServer } from './ask-name-server.ts';

const REPLY_BIT = 0x80;
const REFUSED = 5;
const SERVER_FAILURE = 2;
const NO_SUCH_NAME = 3;

describe('a name server', () => {
  let server: Socket;
  afterEach(() => server.close());

  /** A server that replies to every question with the same code and no records. */
  const listen = async (code: number) => {
    server = createSocket('udp4');
    server.on('message', (question, { port, address }) => {
      const reply = Buffer.from(question);
      reply[2] = (reply[2] ?? 0) | REPLY_BIT;
      reply[3] = code;
      server.send(reply, port, address);
    });
    server.bind(0, '127.0.0.1');
    await once(server, 'listening');
    return `127.0.0.1:${server.address().port}`;
  };

  it.each([0, NO_SUCH_NAME])('that replies with code %i can be used', async (code) => {
    expect(await askNameServer(await listen(code))).toBeNull();
  });

  it.each([
    [REFUSED, 'it refuses to resolve names for this host'],
    [SERVER_FAILURE, 'it cannot resolve names itself'],
  ])('that replies with code %i cannot be used: %s', async (code, reason) => {
    expect(await askNameServer(await listen(code))).toBe(reason);
  });
});

it('a port on which no name server listens is named as the reason', async () => {
  const closed = createSocket('udp4').bind(0, '127.0.0.1');
  await once(closed, 'listening');
  const { port } = closed.address();
  await new Promise<void>((resolve) => closed.close(() => resolve()));
  expect(await askNameServer(`127.0.0.1:${port}`)).toBe('no name server listens there');
});
