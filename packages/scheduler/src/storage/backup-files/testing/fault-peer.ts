import { once } from 'node:events';
import http, { type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { BucketSettings } from '../bucket/bucket-settings.ts';

/** A server for one bucket that fails as the test wants. It is no S3: the real one of the ceph suite is. */
export type FaultPeer = {
  settings: BucketSettings;
  /** The requests so far, without their signatures: `PUT /bucket/name?partNumber=1`. */
  requests: string[];
  stop(): void;
};

export async function startFaultPeer(
  reply: (request: IncomingMessage, response: ServerResponse) => void,
  tls?: { key: string; cert: string },
): Promise<FaultPeer> {
  const requests: string[] = [];
  const listener: RequestListener = (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://peer');
    const query = [...searchParams].map(([name, value]) => (value ? `${name}=${value}` : name));
    requests.push(`${request.method} ${pathname}${query.length > 0 ? `?${query.join('&')}` : ''}`);
    // A body that the test cuts off is no error of the peer.
    request.on('error', () => {});
    reply(request, response);
  };
  const server = tls ? https.createServer(tls, listener) : http.createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    requests,
    settings: {
      endpoint: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
      ...{ bucket: 'bucket', prefix: '', region: 'us-east-1', keyId: 'id', secret: 'secret' },
      authorities: undefined,
    },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Replies after the whole request has arrived. */
export async function replyWith(
  request: IncomingMessage,
  response: ServerResponse,
  { status = 200, body = '', headers = {} }: { status?: number; body?: string; headers?: object },
): Promise<void> {
  await text(request);
  response.writeHead(status, { ...headers }).end(body);
}
