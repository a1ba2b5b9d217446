import http from 'node:http';
import https from 'node:https';
import {
  AddressRefused,
  type AddressRules,
  checkedLookup,
  type Resolve,
  urlProblem,
} from '@gantry/daemon/address-rules';

/** The request had no reply, for a reason that the owner of the webhook may read. */
class Unsent extends Error {
  override name = 'Unsent';
}

/** A longer reply is cut off. Nothing of it is stored, so that no webhook can be used to read what a server replies. */
const MAX_REPLY_BYTES = 65_536;
const MAX_HEADER_BYTES = 16_384;
const IDLE_CONNECTION_MS = 5_000;

export type Sent = {
  /** 0 if there was no reply. */
  statusCode: number;
  /** Empty if the receiver accepted the message. */
  error: string;
  latencyMs: number;
};

export type Sender = {
  /** Never throws. */
  send(url: string, message: { headers: Record<string, string>; body: string }): Promise<Sent>;
  /** Closes all connections. */
  close(): void;
};

type SenderOptions = {
  rules: AddressRules;
  connections: number;
  /** How long an attempt may take. */
  limitMs: number;
  resolve?: Resolve;
};

/** Sends messages to the receiver of one webhook, over connections that are kept for a few seconds. */
export function createSender({ rules, connections, limitMs, resolve }: SenderOptions): Sender {
  const options = {
    ...{ keepAlive: true, keepAliveMsecs: IDLE_CONNECTION_MS, timeout: IDLE_CONNECTION_MS },
    ...{ maxSockets: connections, maxFreeSockets: connections },
    lookup: checkedLookup(rules, resolve),
  };
  const agents = { 'http:': new http.Agent(options), 'https:': new https.Agent(options) };

  const request = (url: URL, { headers, body }: Parameters<Sender['send']>[1]) =>
    new Promise<{ statusCode: number; error: string }>((resolve) => {
      const isPlain = url.protocol === 'http:';
      const sent = (isPlain ? http : https).request(url, {
        agent: agents[isPlain ? 'http:' : 'https:'],
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'user-agent': 'Gantry-Webhooks',
          ...headers,
        },
        maxHeaderSize: MAX_HEADER_BYTES,
      });
      const late = `the receiver did not reply within ${limitMs / 1_000} seconds`;
      const limit = setTimeout(() => sent.destroy(new Unsent(late)), limitMs);
      const end = (statusCode: number, error: string) => {
        clearTimeout(limit);
        resolve({ statusCode, error });
      };
      sent.on('error', (error) => end(0, describe(error)));
      sent.on('response', (reply) => {
        const statusCode = reply.statusCode ?? 0;
        let bytes = 0;
        reply.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > MAX_REPLY_BYTES) sent.destroy();
        });
        reply.on('error', () => {});
        // After the end, or after too many bytes: the rest does not matter.
        reply.on('close', () => end(statusCode, statusProblem(statusCode)));
      });
      sent.end(body);
    });

  return {
    async send(text, message) {
      const beganAt = performance.now();
      // The rules may be stricter than when the webhook was created.
      const problem = urlProblem(text, rules);
      const { statusCode, error } = problem
        ? { statusCode: 0, error: `the URL ${problem}` }
        : await request(new URL(text), message);
      return { statusCode, error, latencyMs: Math.round(performance.now() - beganAt) };
    },
    close() {
      agents['http:'].destroy();
      agents['https:'].destroy();
    },
  };
}

function statusProblem(status: number): string {
  if (status >= 200 && status < 300) return '';
  if (status >= 300 && status < 400)
    return `the receiver replied ${status}; redirects are not followed`;
  return `the receiver replied ${status}`;
}

/** Codes of connections and certificates say enough. Messages may contain addresses that a tenant is not to learn. */
function describe(error: NodeJS.ErrnoException): string {
  if (error instanceof Unsent || error instanceof AddressRefused) return error.message;
  return `the request failed: ${error.code ?? 'the connection was lost'}`;
}
