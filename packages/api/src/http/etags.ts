import { createHash } from 'node:crypto';
import { badRequest, CloudError } from '@gantry/model/errors';
import { type AnyRoute, isWrite, type Request } from './route.ts';

/**
 * ETags and If-Match, for every resource that has a GET of its own.
 *
 * The ETag is a hash of the reply to the GET. A write with If-Match is compared twice. The first time is before
 * the handler runs, so that a client with an old ETag gets 412 and not an error about the state that it does not
 * know. The second time is after the handler has made its changes, and locked what it changes, in a transaction
 * that is not committed: another connection still reads the resource as it was before, and no other transaction
 * can change it until this one ends. If it differs, the transaction is rolled back. So no handler has to know
 * about ETags, and the order of locks stays its own.
 *
 * The second connection is one of those that no request holds: see request-shares.ts.
 */
const TAG = String.raw`(?:W/)?"[\x21\x23-\x7e]*"`;
const LIST = new RegExp(`^\\s*${TAG}(?:\\s*,\\s*${TAG})*\\s*$`);

/** What follows the path of a resource in the path of a route that updates it. */
const VERB = /^(:[a-z-]+|\/(attach|detach)-[a-z-]+)?$/;

/** Returns the GET of the resource that a route updates, and for such a GET the route itself. */
export function findReaders(routes: readonly AnyRoute[]): ReadonlyMap<AnyRoute, AnyRoute> {
  const singles = routes.filter(({ method, path }) => method === 'get' && path.endsWith('}'));
  const readers = new Map<AnyRoute, AnyRoute>();
  for (const route of routes.filter(isWrite)) {
    const reader = singles.find(
      ({ path }) => route.path.startsWith(path) && VERB.test(route.path.slice(path.length)),
    );
    if (!reader) continue;
    readers.set(route, reader);
    readers.set(reader, reader);
  }
  return readers;
}

/** Returns whether the reply of a route is that of the GET, so that it has the ETag that the GET would have. */
export function hasEtag(route: AnyRoute, reader: AnyRoute | undefined): boolean {
  return route === reader || (route.method !== 'delete' && route.reply === reader?.reply);
}

export function etagOf(reply: string): string {
  return `"${createHash('sha256').update(reply).digest('base64url').slice(0, 27)}"`;
}

/** Returns a function that throws unless the resource has one of the ETags of the header. */
export function parseIfMatch(header: string, reader: AnyRoute | undefined) {
  const refused = (reason: string) => badRequest([{ field: 'If-Match', reason }]);
  if (!reader) throw refused('is not supported here: nothing at this path has an ETag');
  if (header.trim() !== '*' && !LIST.test(header)) {
    throw refused('must be "*", or ETags in double quotes as in the reply to a GET');
  }
  const accepted: string[] = header.match(new RegExp(TAG, 'g')) ?? [];
  return async (request: Request<unknown, unknown, unknown>): Promise<void> => {
    const etag = etagOf(JSON.stringify(await read(reader, request)));
    if (header.trim() === '*' || accepted.includes(etag)) return;
    throw new CloudError(
      'precondition_failed',
      'it has changed since it had the ETag in If-Match: read it again, and decide again',
      { details: { etag } },
    );
  };
}

/** Reads the resource outside of the transaction of the request. */
async function read(reader: AnyRoute, request: Request<unknown, unknown, unknown>) {
  if (!('handle' in reader)) throw new Error(`BUG: ${reader.id} has no handler for reads`);
  const query = reader.query ? reader.query.parse({}) : {};
  return await reader.handle({ ...request, sql: request.deps.sql, query, body: undefined });
}
