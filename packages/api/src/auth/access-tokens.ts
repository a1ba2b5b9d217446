import { setTimeout as delay } from 'node:timers/promises';
import type { Secrets } from '@gantry/daemon/secrets';
import type { Queryable, Sql } from '@gantry/db/connect';
import { SIGNING_KEY_PURPOSE } from '@gantry/db/queries/tenants/sealed';
import {
  insertSigningKey,
  readSigningKeyIds,
  readSigningKeys,
} from '@gantry/db/queries/tenants/tokens';
import { newId } from '@gantry/model/ids';
import {
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  jwtVerify,
  SignJWT,
} from 'jose';

/**
 * Access tokens are signed, live for an hour, and are verified without a query.
 *
 * Every api process caches the signing keys. It signs with the newest key and verifies with every
 * key whose tokens may still be valid. If a token has an unknown key id, the process reads the keys
 * again, at most once a second: a key of another process works soon, and forged ids cost little. A
 * verified token is cached until it expires, so the signature of a busy client is verified once.
 *
 * Tokens can be ended before they expire. A token has the generation of its user, which the caller
 * compares with the present one, and the login that it belongs to, which must not be among those that were ended. If an operator withdraws a signing key, every process drops the key
 * and all tokens that it has cached within a second: it compares the list of keys that often.
 */
export const TOKEN_LIFETIME_S = 3600;
const ALGORITHM = 'EdDSA';
const ISSUER = 'gantry';
/** The claim that has the generation. Tokens from before it existed have generation 0. */
const GENERATION = 'gen';
/** The claim that has the login. Tokens from before it existed have none. */
const LOGIN = 'login';
const RELOAD_MS = 1_000;
const MAX_REMEMBERED = 10_000;
const MAX_WAITING = 100;
/** How long a key is kept after the last token that it signed has expired. */
const CLOCK_LEEWAY_S = 60;

type SigningKey = { id: string; createdAt: Date; publicKey: CryptoKey; privateKey: CryptoKey };

export type TokenUser = {
  userId: string;
  generation: number;
  /** Empty if the token belongs to no login. */
  loginId: string;
};

export type AccessTokens = {
  issue(userId: string, generation?: number, loginId?: string): Promise<string>;
  /** Returns undefined if the token is forged, damaged or expired, or its key is withdrawn. */
  verify(token: string): Promise<TokenUser | undefined>;
  /** Creates a signing key if the newest one is too old. */
  rotate(): Promise<void>;
  /**
   * Creates a signing key. It is used after the transaction has committed and `forget` was called.
   */
  insertKey(sql: Queryable): Promise<void>;
  /** Makes the next `issue` and `verify` read the keys from the database again. */
  forget(): void;
};

type TokenOptions = {
  sql: Sql;
  secrets: Secrets;
  keyDays: number;
  /** The time of the database, so that all api processes agree on when a token expires. */
  nowMs?: () => number;
};

export async function createAccessTokens({
  sql,
  secrets,
  keyDays,
  nowMs = () => Date.now(),
}: TokenOptions): Promise<AccessTokens> {
  let keys: SigningKey[] = [];
  let loadedAt = 0;
  let stale = false;
  const remembered = new Map<string, TokenUser & { until: number }>();

  const load = async () => {
    loadedAt = nowMs();
    stale = false;
    const lastUse = (keyDays * 86_400 + TOKEN_LIFETIME_S + CLOCK_LEEWAY_S) * 1000;
    const rows = await readSigningKeys(sql, lastUse);
    keys = await Promise.all(rows.map((row) => openKey(row, secrets)));
    remembered.clear();
  };

  /** Reads the ids of the keys, at most once a second, and the keys if one of them is gone. */
  let checkedAt = nowMs();
  let checking: Promise<void> | undefined;
  const dropWithdrawnKeys = () => {
    if (Math.abs(nowMs() - checkedAt) < RELOAD_MS) return undefined;
    checking ??= readSigningKeyIds(sql)
      .then(async (ids) => {
        if (keys.some(({ id }) => !ids.has(id))) await load();
        checkedAt = nowMs();
      })
      .finally(() => {
        checking = undefined;
      });
    return checking;
  };

  const insertKey = async (on: Queryable, unlessYoungerMs: number | null) =>
    insertSigningKey(on, { ...(await newSigningKey(secrets, nowMs())), unlessYoungerMs });

  const rotate = async () => {
    await insertKey(sql, keyDays * 86_400_000);
    await load();
  };

  /**
   * All waiting requests share one read, which starts at least a second after the last one. The
   * number of waiting requests is limited, because none of them has shown a valid credential yet.
   */
  let waiting = 0;
  let reloading: Promise<void> | undefined;
  const reload = () => {
    reloading ??= delay(Math.max(0, loadedAt + RELOAD_MS - nowMs()))
      .then(load)
      .finally(() => {
        reloading = undefined;
      });
    return reloading;
  };

  const keyFor = async (kid: string | undefined): Promise<CryptoKey> => {
    const known = () => keys.find(({ id }) => id === kid)?.publicKey;
    if (!known() && mayBeNew(kid, loadedAt) && waiting < MAX_WAITING) {
      waiting += 1;
      await reload().finally(() => {
        waiting -= 1;
      });
    }
    const key = known();
    if (!key) throw new Error('unknown signing key');
    return key;
  };

  await rotate();
  return {
    rotate,
    insertKey: (on) => insertKey(on, null),
    forget() {
      stale = true;
      checkedAt = 0;
    },
    async issue(userId, generation = 0, loginId = '') {
      if (stale) await load();
      const key = keys[0];
      if (!key) throw new Error('BUG: there is no signing key');
      const issuedAt = Math.floor(nowMs() / 1000);
      return await new SignJWT({ [GENERATION]: generation, [LOGIN]: loginId })
        .setProtectedHeader({ alg: ALGORITHM, kid: key.id })
        .setSubject(userId)
        .setIssuer(ISSUER)
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + TOKEN_LIFETIME_S)
        .sign(key.privateKey);
    },
    async verify(token) {
      await dropWithdrawnKeys();
      const hit = remembered.get(token);
      if (hit && hit.until > nowMs()) return hit;
      try {
        const { payload } = await jwtVerify(token, (header) => keyFor(header.kid), {
          algorithms: [ALGORITHM],
          issuer: ISSUER,
          requiredClaims: ['sub', 'exp'],
          currentDate: new Date(nowMs()),
        });
        const user = {
          userId: payload.sub ?? '',
          generation: Number(payload[GENERATION] ?? 0),
          loginId: String(payload[LOGIN] ?? ''),
        };
        if (remembered.size >= MAX_REMEMBERED) remembered.clear();
        remembered.set(token, { ...user, until: (payload.exp ?? 0) * 1000 });
        return user;
      } catch {
        remembered.delete(token);
        return undefined;
      }
    },
  };
}

/** Returns false for a key that the last read would have found: ids contain their creation time. */
function mayBeNew(kid: string | undefined, loadedAt: number): boolean {
  const madeAt = Number.parseInt((kid ?? '').replaceAll('-', '').slice(0, 12), 16);
  return madeAt >= loadedAt - CLOCK_LEEWAY_S * 1000;
}

async function newSigningKey(secrets: Secrets, nowMs: number) {
  const { publicKey, privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  const privateJwk = JSON.stringify(await exportJWK(privateKey));
  return {
    id: newId(nowMs),
    publicKey: await exportJWK(publicKey),
    sealedPrivateKey: secrets.seal(SIGNING_KEY_PURPOSE, privateJwk),
  };
}

type SigningKeyRow = {
  id: string;
  created_at: Date;
  public_key: unknown;
  sealed_private_key: string;
};

async function openKey(row: SigningKeyRow, secrets: Secrets): Promise<SigningKey> {
  const privateJwk = JSON.parse(secrets.unseal(SIGNING_KEY_PURPOSE, row.sealed_private_key)) as JWK;
  return {
    id: row.id,
    createdAt: row.created_at,
    publicKey: (await importJWK(row.public_key as JWK, ALGORITHM)) as CryptoKey,
    privateKey: (await importJWK(privateJwk, ALGORITHM)) as CryptoKey,
  };
}
