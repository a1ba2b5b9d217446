import type { IncomingMessage } from 'node:http';
import { badRequest } from '@gantry/model/errors';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { Upgrade } from './route.ts';

/**
 * What a request carries, taken from Node's own message where there is one: the Fetch API's headers
 * and body streams cost more than the rest of a read. Requests made in a test have no message and go
 * the long way.
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

/** The client's address: the peer's, or what the trusted proxies in front wrote down of theirs. */
export function sourceIpOf(c: Context, trustedProxies: number): string {
  if (trustedProxies > 0) {
    const hops = (headerOf(c, 'x-forwarded-for') ?? '').split(',').map((hop) => hop.trim());
    const client = hops.at(-trustedProxies);
    if (client) return client.slice(0, 64);
  }
  return messageOf(c)?.socket?.remoteAddress ?? '';
}

/** The body, read no further than the limit whatever its length header says; undefined beyond it. */
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
    // A client that leaves midway closes the message without an end; nobody reads the answer then.
    const incomplete = () => reject(badRequest([{ field: 'body', reason: 'is incomplete' }]));
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
