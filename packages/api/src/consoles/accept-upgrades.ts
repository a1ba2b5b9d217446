import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Hono } from 'hono';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Upgrade } from '../http/route.ts';
import { CLOSINGS } from './closings.ts';

/** Enough for text that people type or paste. */
const MAX_MESSAGE_BYTES = 65_536;

/**
 * Passes requests for a WebSocket through the app like all other requests. The connection is
 * upgraded only if the route accepts it. Otherwise the client gets the reply of the app, which is
 * an error.
 */
export function acceptUpgrades(server: Server, app: Hono): { stop(): void } {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES });
  server.on('upgrade', (incoming: IncomingMessage, connection: Duplex, head: Buffer) => {
    const { method, headers } = incoming;
    if (method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket') {
      passOn(server, { incoming, connection, head });
      return;
    }
    connection.on('error', () => connection.destroy());
    sendToApp(app, incoming).then(
      ({ serve, response }) =>
        serve && response.ok
          ? sockets.handleUpgrade(incoming, connection, head, serve)
          : refuse(connection, response),
      () => connection.destroy(),
    );
  });
  return {
    stop() {
      const [code, reason] = CLOSINGS.stopping;
      for (const socket of sockets.clients) {
        socket.close(code, reason);
        // A client that does not close its side is disconnected.
        setTimeout(() => socket.terminate(), 1_000).unref();
      }
    },
  };
}

async function sendToApp(app: Hono, incoming: IncomingMessage) {
  let serve: ((socket: WebSocket) => void) | undefined;
  const upgrade: Upgrade = (taken) => {
    serve = taken;
  };
  const request = new Request(new URL(incoming.url ?? '/', 'http://localhost'));
  const response = await app.fetch(request, { incoming, upgrade });
  return { serve, response };
}

async function refuse(connection: Duplex, response: Response): Promise<void> {
  const body = Buffer.from(await response.arrayBuffer());
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`);
  const length = `content-length: ${body.length}`;
  const lines = [statusLine(response), ...headers, length, 'connection: close', '', ''];
  connection.end(Buffer.concat([Buffer.from(lines.join('\r\n')), body]));
}

const statusLine = ({ status }: Response) => `HTTP/1.1 ${status} ${STATUS_CODES[status]}`;

type UpgradeRequest = { incoming: IncomingMessage; connection: Duplex; head: Buffer };

/**
 * Serves a request that offers another protocol as plain HTTP, because clients may not insist on
 * it.
 */
function passOn(server: Server, { incoming, connection, head }: UpgradeRequest): void {
  const { method, url, httpVersion, rawHeaders } = incoming;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (!/^(upgrade|connection)$/i.test(rawHeaders[at] ?? '')) {
      lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
    }
  }
  connection.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', connection);
}
