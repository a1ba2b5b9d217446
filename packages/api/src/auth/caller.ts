import { sha256 } from '@gantry/daemon/secrets';
import type { Sql } from '@gantry/db/connect';
import type {
  AccessKeyGrant,
  OrganizationScope,
  UserGrant,
} from '@gantry/db/queries/tenants/access';
import {
  readAccessKeyGrant,
  readAccessKeyGrants,
  readKnownKeyGrant,
  readOrganizationScope,
  readProjectScope,
  readUserGrant,
  readUserGrants,
} from '@gantry/db/queries/tenants/access';
import { CloudError } from '@gantry/model/errors';
import type { AccessTokens, TokenUser } from './access-tokens.ts';
import { isKey } from './keys.ts';
import { createTtlCache } from './ttl-cache.ts';

/** The authenticated sender of a request, with its rights. */
export type Caller =
  | { type: 'access_key'; grant: AccessKeyGrant }
  | { type: 'user'; grant: UserGrant; loginId: string };

/**
 * Turns bearers into callers, and looks up what authorization needs about organizations and
 * projects.
 *
 * Results are cached for a second. A busy client therefore costs one lookup a second, and a key
 * that another api process revoked stops working within that second; `forget` makes this process
 * drop its cache at once. Organizations without a payment method are not cached, because the first
 * request after a payment must succeed.
 */
export type Callers = {
  authenticate(authorization: string | undefined): Promise<Caller>;
  /**
   * Returns a caller that was authenticated before, with its current rights. With a generation, the
   * caller's tokens must not have been ended since; with a login, it must not have been ended.
   */
  recall(actor: Actor): Promise<Caller>;
  /**
   * Returns the callers of those bearers that are still valid, by bearer, with their current rights. It
   * needs two statements however many there are.
   */
  recallAll(bearers: readonly string[]): Promise<Map<string, Caller>>;
  projectScope(projectId: string): Promise<OrganizationScope | undefined>;
  organizationScope(organizationId: string): Promise<OrganizationScope | undefined>;
  forget(): void;
};

/** Who a caller is, without its rights. A user's login and generation of tokens tell whether it has ended. */
export type Actor = { type: Caller['type']; id: string; generation?: number; loginId?: string };

const CACHE = { ttlMs: 1_000, maxEntries: 50_000 };

type CallerOptions = {
  sql: Sql;
  tokens: AccessTokens;
  /** The time of the database. */
  nowMs?: () => number;
};

export function createCallers({ sql, tokens, nowMs = () => Date.now() }: CallerOptions): Callers {
  const keyGrants = createTtlCache<AccessKeyGrant | undefined>({
    ...CACHE,
    keep: (grant) => grant?.paid === true,
  });
  const userGrants = createTtlCache<UserGrant | undefined>({
    ...CACHE,
    keep: (grant) =>
      grant?.operator === true || grant?.memberships.some(({ paid }) => paid) === true,
  });
  const scopes = createTtlCache<OrganizationScope | undefined>({
    ...CACHE,
    keep: (scope) => scope?.paid === true,
  });

  const accessKeyCaller = async (key: string): Promise<Caller> => {
    const grant = await keyGrants.get(key, async () =>
      isKey('access_key', key) ? readAccessKeyGrant(sql, sha256(key)) : undefined,
    );
    return keyCaller(grant, nowMs());
  };

  const userCaller = async (token: string): Promise<Caller> => {
    const user = await tokens.verify(token);
    if (!user) throw badCredential();
    const grant = await userGrants.get(user.userId, () => readUserGrant(sql, user.userId));
    if (!grant || isEnded(user, grant)) throw badCredential();
    return { type: 'user', grant, loginId: user.loginId };
  };

  const recallKeys = async (keys: readonly string[]) => {
    const byHash = new Map(keys.map((key) => [sha256(key), key]));
    const grants = await readAccessKeyGrants(sql, [...byHash.keys()]);
    return grants.flatMap(({ hash, ...grant }): [string, Caller][] =>
      isExpired(grant, nowMs()) ? [] : [[byHash.get(hash) ?? '', { type: 'access_key', grant }]],
    );
  };

  const recallTokens = async (bearers: readonly string[]) => {
    const users = await Promise.all(bearers.map(async (token) => await tokens.verify(token)));
    const ids = new Set(users.flatMap((user) => user?.userId ?? []));
    const grants = new Map((await readUserGrants(sql, [...ids])).map((grant) => [grant.id, grant]));
    return bearers.flatMap((token, index): [string, Caller][] => {
      const user = users[index];
      const grant = user && grants.get(user.userId);
      if (!grant || isEnded(user, grant)) return [];
      return [[token, { type: 'user', grant, loginId: user.loginId }]];
    });
  };

  return {
    async authenticate(authorization) {
      const bearer = bearerOf(authorization);
      if (!bearer) throw badCredential();
      return isKeyLike(bearer) ? accessKeyCaller(bearer) : userCaller(bearer);
    },
    async recallAll(bearers) {
      const keys = bearers.filter((bearer) => isKeyLike(bearer));
      const others = bearers.filter((bearer) => !isKeyLike(bearer));
      return new Map([
        ...(keys.length > 0 ? await recallKeys(keys) : []),
        ...(others.length > 0 ? await recallTokens(others) : []),
      ]);
    },
    async recall({ type, id, generation, loginId = '' }) {
      if (type === 'access_key') return keyCaller(await readKnownKeyGrant(sql, id), nowMs());
      const grant = await readUserGrant(sql, id);
      const since = generation ?? grant?.token_generation ?? 0;
      if (!grant || isEnded({ generation: since, loginId }, grant)) throw badCredential();
      return { type, grant, loginId };
    },
    projectScope: (projectId) =>
      scopes.get(`p ${projectId}`, () => readProjectScope(sql, projectId)),
    organizationScope: (organizationId) =>
      scopes.get(`o ${organizationId}`, () => readOrganizationScope(sql, organizationId)),
    forget() {
      keyGrants.clear();
      userGrants.clear();
      scopes.clear();
      tokens.forget();
    },
  };
}

/** Returns the key or token of the header; undefined if it has none. */
export function bearerOf(authorization: string | undefined): string | undefined {
  return /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
}

const isKeyLike = (bearer: string) => bearer.startsWith('gantry_');

function isExpired({ expires_at }: AccessKeyGrant, nowMs: number): boolean {
  return expires_at !== null && expires_at.getTime() <= nowMs;
}

/** Whether all tokens of the user were ended since this one was issued, or those of its login. */
function isEnded(token: Pick<TokenUser, 'generation' | 'loginId'>, grant: UserGrant): boolean {
  return token.generation !== grant.token_generation || grant.ended_logins.includes(token.loginId);
}

function keyCaller(grant: AccessKeyGrant | undefined, nowMs: number): Caller {
  if (!grant || isExpired(grant, nowMs)) throw badCredential();
  return { type: 'access_key', grant };
}

export function callerId(caller: Caller): string {
  return caller.grant.id;
}

export function actorOf(caller: Caller): Actor {
  const known = { type: caller.type, id: callerId(caller) };
  if (caller.type === 'access_key') return known;
  return { ...known, generation: caller.grant.token_generation, loginId: caller.loginId };
}

/** The same error for a missing, wrong, expired or revoked bearer, so that it reveals nothing. */
export function badCredential(): CloudError {
  return new CloudError(
    'bad_credential',
    'send "Authorization: Bearer" with a valid access key or access token',
  );
}
