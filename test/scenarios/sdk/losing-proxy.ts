import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An HTTP proxy on loopback that can lose replies after the target has sent them completely. */
export type LosingProxy = {
  url: string;
  /** The next requests with this method and end of path get no reply: their connection is reset. */
  lose(times: number, request: { method: string; path: string }): void;
  /** The status of each reply that was lost. */
  lost: number[];
  stop(): Promise<void>;
};

export async function startLosingProxy(target: string): Promise<LosingProxy> {
  let rule = { times: 0, method: '', path: '' };
  const lost: number[] = [];
  const server = createServer(async (request, response) => {
    const { method = '', url = '' } = request;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const reply = await fetch(target + url, {
      method,
      headers: forwarded(request.headers),
      body: chunks.length > 0 ? Buffer.concat(chunks) : null,
    });
    const text = await reply.text();
    if (rule.times > 0 && method === rule.method && url.endsWith(rule.path)) {
      rule.times -= 1;
      lost.push(reply.status);
      response.socket?.resetAndDestroy();
      return;
    }
    response.writeHead(reply.status, { 'content-type': 'application/json' }).end(text);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lose(times, request) {
      rule = { times, ...request };
    },
    lost,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function forwarded(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const names = ['authorization', 'content-type', 'idempotency-key'];
  return Object.fromEntries(
    names.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
  );
}
