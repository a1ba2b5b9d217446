import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '../client.ts';
import type { Credential } from '../credential.ts';
import type { RetryLimits } from '../retry.ts';

/**
 * An HTTP server on loopback that treats each request as the next entry of a script says:
 *
 * - a reply with status, headers and JSON or text;
 * - `cut`: the connection is reset before the reply;
 * - `cut-body`: the connection is reset in the middle of the reply;
 * - `silent`: no reply.
 *
 * After its end the last entry is repeated.
 */
export type ScriptEntry =
  | { status: number; headers?: Record<string, string>; body?: unknown }
  | 'cut'
  | 'cut-body'
  | 'silent';

export type SeenRequest = {
  line: string;
  key: string | undefined;
  ifMatch: string | undefined;
  bearer: string | undefined;
  body: string;
  atMs: number;
};

export type ScriptedServer = {
  url: string;
  seen: SeenRequest[];
  stop(): Promise<void>;
};

export async function startScriptedServer(
  script: ScriptEntry[] | ((request: SeenRequest) => ScriptEntry | Promise<ScriptEntry>),
): Promise<ScriptedServer> {
  const seen: SeenRequest[] = [];
  const server = createServer(async (request, response) => {
    const received = await receive(request);
    seen.push(received);
    const entry =
      typeof script === 'function'
        ? await script(received)
        : (script[Math.min(seen.length, script.length) - 1] ?? 'cut');
    perform(entry, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function receive(request: IncomingMessage): Promise<SeenRequest> {
  const atMs = performance.now();
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk;
  return {
    ...{ line: `${request.method} ${request.url}`, body, atMs },
    key: request.headers['idempotency-key'] as string | undefined,
    ifMatch: request.headers['if-match'],
    bearer: request.headers.authorization?.replace('Bearer ', ''),
  };
}

function perform(entry: ScriptEntry, response: ServerResponse): void {
  if (entry === 'silent') return;
  if (entry === 'cut') return void response.socket?.resetAndDestroy();
  if (entry === 'cut-body') {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
    response.write('{"name":', () => response.socket?.resetAndDestroy());
    return;
  }
  const { status, headers = {}, body = {} } = entry;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
}

/** Waits that a test can afford. */
const QUICK: Partial<RetryLimits> = { baseMs: 1, maxMs: 5 };

export function quickClient(
  server: ScriptedServer,
  options: { credential?: Credential; retry?: Partial<RetryLimits> } = {},
) {
  const { credential = { accessKey: 'gantry_ak_test' }, retry = {} } = options;
  return createClient({ baseUrl: server.url, credential, retry: { ...QUICK, ...retry } });
}

export const refusal = (status: number, code: string, more: Record<string, unknown> = {}) => ({
  status,
  body: { code, message: `the message of ${code}`, error_id: 'e1', ...more },
});
