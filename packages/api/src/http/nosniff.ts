import type { MiddlewareHandler } from 'hono';

/**
 * Forbids browsers to guess another content type than the one that is declared: a reply that
 * contains text of a tenant must not run as a script. Every reply has this header.
 */
export const NOSNIFF = { 'x-content-type-options': 'nosniff' } as const;

/** Adds the header to the replies of a page. Replies of routes are built with it. */
export const nosniff: MiddlewareHandler = async (c, next) => {
  await next();
  for (const [name, value] of Object.entries(NOSNIFF)) c.res.headers.set(name, value);
};
