import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Hono } from 'hono';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Upgrade } from '../http/route.ts';
import { CLOSINGS } from './closings.ts';

/** People type, and paste. */
const MAX_MESSAGE_BYTES = 65_536;

/**
 * A request for a WebSocket goes through the app like every other. Only if its route took it is the
 * connection upgraded; otherwise the app's reply, an error, is what the client gets.
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
    answer(app, incoming).then(
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
        // Whoever does not answer is not waited for.
        setTimeout(() => socket.terminate(), 1_000).unref();
      }
    },
  };
}

async function answer(app: Hono, incoming: IncomingMessage) {
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

type Asked = { incoming: IncomingMessage; connection: Duplex; head: Buffer };

/** Another protocol than ours is offered, not demanded: the request is served as if it had not been. */
function passOn(server: Server, { incoming, connection, head }: Asked): void {
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
