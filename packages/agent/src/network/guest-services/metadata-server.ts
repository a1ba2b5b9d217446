import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { METADATA_ADDRESS } from '../kernel/service-addresses.ts';

/** Guests by the source addresses of their requests. */
export type Metadata = {
  isKnown(guest: string): boolean;
  /** Returns one of the guest's own files. */
  read(guest: string, name: string): Promise<Uint8Array | undefined>;
};

const LIMITS = { headersTimeout: 5_000, requestTimeout: 5_000, connectionsCheckingInterval: 1_000 };
const MOST_HEADER_BYTES = 4_096;
const IDLE_MS = 5_000;
const MOST_CONNECTIONS_OF_GUEST = 8;
const HOST_NAMES = new Set([undefined, METADATA_ADDRESS, `${METADATA_ADDRESS}:80`]);

/**
 * Serves a guest its own files, as the NoCloud data source requests them: no listing, no other
 * guest's files, read-only. The source address, which the host assigned, identifies the guest. A
 * request with another Host header is refused, because a web page in a guest's browser could cause
 * it.
 */
export function createMetadataServer(metadata: Metadata): Server {
  const server = createServer(
    { ...LIMITS, keepAliveTimeout: IDLE_MS, maxHeaderSize: MOST_HEADER_BYTES },
    (request, response) => {
      response.on('error', () => undefined);
      void reply(request, response, metadata);
    },
  );
  const open = new Map<string, number>();
  server.on('connection', (socket) => {
    const guest = socket.remoteAddress ?? '';
    const count = (open.get(guest) ?? 0) + 1;
    if (!metadata.isKnown(guest) || count > MOST_CONNECTIONS_OF_GUEST) {
      socket.resetAndDestroy();
      return;
    }
    open.set(guest, count);
    // Ends a connection whose guest does not read the reply.
    socket.setTimeout(IDLE_MS, () => socket.destroy());
    socket.once('close', () => {
      const left = (open.get(guest) ?? 1) - 1;
      if (left === 0) open.delete(guest);
      else open.set(guest, left);
    });
  });
  return server;
}

async function reply(
  request: IncomingMessage,
  response: ServerResponse,
  metadata: Metadata,
): Promise<void> {
  const say = (status: number, content: Uint8Array, headers: Record<string, string> = {}) => {
    const length = { 'content-length': content.length };
    response.writeHead(status, { 'content-type': 'text/plain', ...length, ...headers });
    response.end(request.method === 'HEAD' ? undefined : content);
  };
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    say(405, Buffer.from('only GET and HEAD are allowed\n'), {
      allow: 'GET, HEAD',
      connection: 'close',
    });
    return;
  }
  const guest = request.socket.remoteAddress ?? '';
  const name = (request.url ?? '').replace(/^\//, '');
  try {
    const isForUs = HOST_NAMES.has(request.headers.host);
    const content = isForUs ? await metadata.read(guest, name) : undefined;
    if (content === undefined) say(404, Buffer.from('not found\n'));
    else say(200, content);
  } catch {
    // No guest's request may end the agent.
    say(500, Buffer.from('the file cannot be read\n'));
  }
}
