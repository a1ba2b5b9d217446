import type { IncomingMessage } from 'node:http';
import { badRequest } from '@gantry/model/errors';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { Upgrade } from './route.ts';

/**
 * Reads headers and bodies from Node's own message if there is one, because the headers and streams
 * of the Fetch API cost more CPU than the rest of a read request. A request that a test makes has
 * no message and goes through the Fetch API.
 */
function messageOf(c: Context): IncomingMessage | undefined {
  const bindings = c.env as Partial<HttpBindings> | undefined;
  return bindings?.incoming as IncomingMessage | undefined;
}

export function upgradeOf(c: Context): Upgrade | undefined {
  return (c.env as { upgrade?: Upgrade } | undefined)?.upgrade;
}

export function headerOf(c: Context, name: string): string | undefined {
  const message = messageOf(c);
  if (!message) return c.req.header(name);
  const value = message.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Whether the client asked for server-sent events. A client that accepts anything gets JSON. */
export function acceptsEvents(c: Context): boolean {
  const ranges = (headerOf(c, 'accept') ?? '').toLowerCase().split(',');
  return ranges.some((range) => /^\s*text\/event-stream\s*(;(?!\s*q=0(\.0*)?\s*$)|$)/.test(range));
}

/** Returns a function that closes the connection of the request at once. */
export function disconnectOf(c: Context): () => void {
  return () => messageOf(c)?.socket.destroy();
}

/** Of a repeated parameter the first value counts, except for `tag`, which may be repeated. */
export function queryOf(c: Context): Record<string, string | string[]> {
  const tags = c.req.queries('tag');
  return tags ? { ...c.req.query(), tag: tags } : c.req.query();
}

/**
 * Returns the client's address: that of the peer, or the one that the trusted proxies forwarded.
 */
export function sourceIpOf(c: Context, trustedProxies: number): string {
  if (trustedProxies > 0) {
    const hops = (headerOf(c, 'x-forwarded-for') ?? '').split(',').map((hop) => hop.trim());
    const client = hops.at(-trustedProxies);
    if (client) return client.slice(0, 64);
  }
  return messageOf(c)?.socket?.remoteAddress ?? '';
}

/**
 * Returns the body, or undefined if it is longer than the limit, whatever its length header claims.
 */
export async function readBody(c: Context, limitBytes: number): Promise<Buffer | undefined> {
  if (Number(headerOf(c, 'content-length') ?? 0) > limitBytes) return undefined;
  const message = messageOf(c);
  return message ? readMessage(message, limitBytes) : readStream(c.req.raw.body, limitBytes);
}

function readMessage(message: IncomingMessage, limitBytes: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const done = (result: Buffer | undefined) => {
      message.off('data', take);
      resolve(result);
    };
    const take = (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > limitBytes) done(undefined);
    };
    message.on('data', take);
    message.once('end', () => done(Buffer.concat(chunks)));
    // A client that disconnects closes the message without an end. It does not read the reply.
    const incomplete = () =>
      reject(badRequest([{ field: 'body', reason: 'is incomplete: send the request again' }]));
    message.once('error', incomplete);
    message.once('close', incomplete);
  });
}

async function readStream(body: Request['body'], limitBytes: number): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > limitBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
