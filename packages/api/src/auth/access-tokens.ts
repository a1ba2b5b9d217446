import { setTimeout as delay } from 'node:timers/promises';
import type { Secrets } from '@gantry/daemon/secrets';
import type { Queryable, Sql } from '@gantry/db/connect';
import { insertSigningKey, readSigningKeys } from '@gantry/db/queries/tokens';
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
 * Access tokens: signed, good for an hour, checked without a query.
 *
 * Every api process keeps the signing keys in memory: it signs with the newest and verifies with all
 * whose tokens may still be alive. A key id it does not know makes it read the keys again, at most
 * once a second, so that a key made by another process works and forged ids cost little.
 * A verified token is remembered until it expires: the signature of a busy client is checked once.
 */
export const TOKEN_LIFETIME_S = 3600;
const ALGORITHM = 'EdDSA';
const ISSUER = 'gantry';
const RELOAD_MS = 1_000;
const MAX_REMEMBERED = 10_000;
const MAX_WAITING = 100;
/** How long a key outlives the last token it signed. */
const CLOCK_LEEWAY_S = 60;

type SigningKey = { id: string; createdAt: Date; publicKey: CryptoKey; privateKey: CryptoKey };

export type AccessTokens = {
  issue(userId: string): Promise<string>;
  /** The user's id; undefined for a token that is forged, damaged or expired. */
  verify(token: string): Promise<string | undefined>;
  /** Makes a new signing key if the newest has served its time. */
  rotate(): Promise<void>;
  /** Makes a new signing key in any case; it is used once the transaction is committed and `forget` called. */
  insertKey(sql: Queryable): Promise<void>;
  /** The next token to be issued asks the database which key is the newest. */
  forget(): void;
};

type Options = { sql: Sql; secrets: Secrets; keyDays: number };

export async function createAccessTokens({
  sql,
  secrets,
  keyDays,
}: Options): Promise<AccessTokens> {
  let keys: SigningKey[] = [];
  let loadedAt = 0;
  let stale = false;
  const remembered = new Map<string, { userId: string; until: number }>();

  const load = async () => {
    loadedAt = Date.now();
    stale = false;
    const lastUse = (keyDays * 86_400 + TOKEN_LIFETIME_S + CLOCK_LEEWAY_S) * 1000;
    const rows = await readSigningKeys(sql, lastUse);
    keys = await Promise.all(rows.map((row) => openKey(row, secrets)));
  };

  const insertKey = async (on: Queryable, unlessYoungerMs: number | null) =>
    insertSigningKey(on, { ...(await newSigningKey(secrets)), unlessYoungerMs });

  const rotate = async () => {
    await insertKey(sql, keyDays * 86_400_000);
    await load();
  };

  /**
   * All who wait share one reading, and it comes a second after the last one at the earliest. Only so
   * many may wait: they have shown no credential yet.
   */
  let waiting = 0;
  let reloading: Promise<void> | undefined;
  const reload = () => {
    reloading ??= delay(Math.max(0, loadedAt + RELOAD_MS - Date.now()))
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
    },
    async issue(userId) {
      if (stale) await load();
      const key = keys[0];
      if (!key) throw new Error('BUG: there is always a signing key');
      return await new SignJWT()
        .setProtectedHeader({ alg: ALGORITHM, kid: key.id })
        .setSubject(userId)
        .setIssuer(ISSUER)
        .setIssuedAt()
        .setExpirationTime(`${TOKEN_LIFETIME_S}s`)
        .sign(key.privateKey);
    },
    async verify(token) {
      const hit = remembered.get(token);
      if (hit && hit.until > Date.now()) return hit.userId;
      try {
        const { payload } = await jwtVerify(token, (header) => keyFor(header.kid), {
          algorithms: [ALGORITHM],
          issuer: ISSUER,
          requiredClaims: ['sub', 'exp'],
        });
        const userId = payload.sub ?? '';
        if (remembered.size >= MAX_REMEMBERED) remembered.clear();
        remembered.set(token, { userId, until: (payload.exp ?? 0) * 1000 });
        return userId;
      } catch {
        remembered.delete(token);
        return undefined;
      }
    },
  };
}

/** Ids carry the time they were made: a key that is older than the last reading would have been in it. */
function mayBeNew(kid: string | undefined, loadedAt: number): boolean {
  const madeAt = Number.parseInt((kid ?? '').replaceAll('-', '').slice(0, 12), 16);
  return madeAt >= loadedAt - CLOCK_LEEWAY_S * 1000;
}

async function newSigningKey(secrets: Secrets) {
  const { publicKey, privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  const privateJwk = JSON.stringify(await exportJWK(privateKey));
  return {
    id: newId(),
    publicKey: await exportJWK(publicKey),
    sealedPrivateKey: secrets.seal('signing-key', privateJwk),
  };
}

type SigningKeyRow = {
  id: string;
  created_at: Date;
  public_key: unknown;
  sealed_private_key: string;
};

async function openKey(row: SigningKeyRow, secrets: Secrets): Promise<SigningKey> {
  const privateJwk = JSON.parse(secrets.unseal('signing-key', row.sealed_private_key)) as JWK;
  return {
    id: row.id,
    createdAt: row.created_at,
    publicKey: (await importJWK(row.public_key as JWK, ALGORITHM)) as CryptoKey,
    privateKey: (await importJWK(privateJwk, ALGORITHM)) as CryptoKey,
  };
}
