import { Resolver } from 'node:dns/promises';

const LIMIT_MS = 3_000;

/** Replies that prove a resolver: it looked, and there is no such record. */
const REPLIES = ['ENODATA', 'ENOTFOUND'];
const REASONS = new Map([
  ['ETIMEOUT', `no reply within ${LIMIT_MS / 1_000} s`],
  ['ECONNREFUSED', 'no name server listens there'],
  ['EREFUSED', 'it refuses to resolve names for this host'],
  ['ESERVFAIL', 'it cannot resolve names itself'],
]);

/** Asks for the root zone. Returns null if the server resolves names, otherwise the reason. */
export async function askNameServer(server: string): Promise<string | null> {
  const resolver = new Resolver({ timeout: LIMIT_MS, tries: 1 });
  try {
    resolver.setServers([server]);
    await resolver.resolveSoa('.');
    return null;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (REPLIES.includes(code)) return null;
    return REASONS.get(code) ?? (error instanceof Error ? error.message : String(error));
  }
}
