import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Duplex } from 'node:stream';
import type { Log } from '@gantry/daemon/log';
import { badRequest, CloudError } from '@gantry/model/errors';
import { getRequestListener, RequestError } from '@hono/node-server';
import type { Hono } from 'hono';
import { type Refusal, refuse } from './refuse.ts';

/**
 * Longer than most clients and load balancers keep an idle connection, which is a minute. If the
 * server closed first, it could close a connection on which a request is already on its way.
 */
const IDLE_CONNECTION_MS = 75_000;

/** How long the client of a malformed request may take to close the connection. */
const CLOSE_MS = 1_000;

type ListenOptions = { app: Hono; host: string; port: number; log: Log };

/**
 * Opens the HTTP server. A request that is no valid HTTP never reaches the app: Node and the adapter
 * would reply to it with a bare status line. Here it gets the error body of the contract, too.
 */
export function listen({ app, host, port, log }: ListenOptions): Promise<Server> {
  const serve = getRequestListener(app.fetch, {
    hostname: host,
    // The app replies to its own errors, so this one is about the request line or the Host header.
    errorHandler: (error) => {
      const known = error instanceof RequestError ? malformed(error.message) : error;
      const { body, ...reply } = refuse({ log, ...UNKNOWN, error: known });
      return new Response(body, reply);
    },
  });
  const server = createServer({ requireHostHeader: false }, (incoming, outgoing) => {
    if (incoming.headers.host === undefined && incoming.httpVersion === '1.1') {
      replyTo(incoming, outgoing, malformed('the Host header is missing'));
    } else {
      void serve(incoming, outgoing);
    }
  });
  const replyTo = (incoming: IncomingMessage, outgoing: ServerResponse, error: CloudError) => {
    const { method = '', url: path = '' } = incoming;
    const { status, headers, body } = refuse({ log, method, path, error });
    const length = { 'content-length': Buffer.byteLength(body) };
    outgoing.writeHead(status, { ...headers, ...length, connection: 'close' }).end(body);
  };
  server.on('checkExpectation', (incoming: IncomingMessage, outgoing: ServerResponse) =>
    replyTo(
      incoming,
      outgoing,
      badRequest([{ field: 'Expect', reason: 'must be 100-continue, or be left out' }]),
    ),
  );
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (!mayReply(socket)) {
      socket.destroy();
      return;
    }
    // The client gets time to read the reply: closing a socket that has unread bytes discards it.
    socket.end(rendered(refuse({ log, ...UNKNOWN, error: explain(error) })));
    setTimeout(() => socket.destroy(), CLOSE_MS).unref();
  });
  server.keepAliveTimeout = IDLE_CONNECTION_MS;
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve(server));
  });
}

/** The log shows these for a request that could not be parsed. */
const UNKNOWN = { method: '', path: '' };

/** A reply in the middle of another reply would corrupt it. */
function mayReply(socket: Duplex & { _httpMessage?: { headersSent: boolean } | null }): boolean {
  return socket.writable && !socket._httpMessage?.headersSent;
}

function explain({ code }: NodeJS.ErrnoException): CloudError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new CloudError(
      'request_too_large',
      'the request line and the headers are larger than 16 KiB: send fewer or shorter headers',
    );
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return malformed('it did not arrive completely in time');
  return malformed('see RFC 9112');
}

function malformed(reason: string): CloudError {
  return new CloudError('bad_request', `the request is not valid HTTP: ${reason}`, {
    details: [{ field: 'request', reason: 'is not valid HTTP' }],
  });
}

function rendered({ status, headers, body }: Refusal): string {
  const lines = Object.entries({
    ...headers,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n');
}
