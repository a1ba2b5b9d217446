import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';

/** The client's address: the peer's, or what the trusted proxies in front wrote down of theirs. */
export function sourceIp(c: Context, trustedProxies: number): string {
  if (trustedProxies > 0) {
    const hops = (c.req.header('x-forwarded-for') ?? '').split(',').map((hop) => hop.trim());
    const client = hops.at(-trustedProxies);
    if (client) return client.slice(0, 64);
  }
  const bindings = c.env as Partial<HttpBindings> | undefined;
  return bindings?.incoming?.socket?.remoteAddress ?? '';
}
