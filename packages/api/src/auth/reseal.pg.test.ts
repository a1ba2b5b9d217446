import { createLog } from '@gantry/daemon/log';
import { createSecrets } from '@gantry/daemon/secrets';
import { TOTP_PURPOSE } from '@gantry/db/queries/tenants/sealed';
import { newId } from '@gantry/model/ids';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createAccessTokens } from './access-tokens.ts';
import { resealStoredSecrets } from './reseal.ts';

const log = createLog({ process: 'api', level: 'silent' });
const OLD = 'the old key of the installation, long enough';
const NEW = 'the new key of the installation, long enough';
let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

/** What an api process does when it starts with these keys. */
async function start(...keys: string[]) {
  const { sql } = database;
  const secrets = createSecrets(keys.join('\n'));
  const tokens = await createAccessTokens({ sql, secrets, keyDays: 30 });
  return { secrets, tokens, reseal: () => resealStoredSecrets({ sql, secrets, log }) };
}

it('the secret key is replaced in three steps, and tokens and second factors survive each', async () => {
  const { sql } = database;
  const userId = newId();
  await sql`insert into users (id, email, password_hash) values (${userId}, 'a@b.test', '')`;
  const before = await start(OLD);
  const token = await before.tokens.issue(userId);
  await sql`insert into user_totps (user_id, sealed_secret)
    values (${userId}, ${before.secrets.seal(TOTP_PURPOSE, 'SECRET')})`;
  const totpSecret = async ({ secrets }: Awaited<ReturnType<typeof start>>) => {
    const [row] = await sql`select sealed_secret from user_totps`;
    return secrets.unseal(TOTP_PURPOSE, row?.['sealed_secret'] as string);
  };
  const running = [before];
  for (const keys of [[OLD, NEW], [NEW, OLD], [NEW]]) {
    const process = await start(...keys);
    await process.reseal();
    // The processes of the step before still run, and issue tokens that the new ones accept.
    for (const issuer of [...running.slice(-1), process]) {
      const fresh = await issuer.tokens.issue(userId);
      expect((await process.tokens.verify(fresh))?.userId).toBe(userId);
      expect((await issuer.tokens.verify(token))?.userId).toBe(userId);
      expect(await totpSecret(issuer)).toBe('SECRET');
    }
    running.push(process);
  }
  await expect(start(OLD)).rejects.toThrow();
  expect(await sql`select from signing_keys`).toHaveLength(1);
});

it('a value that no key opens does not hold up the others', async () => {
  const { sql } = database;
  const [lost, kept] = [newId(), newId()].toSorted();
  for (const [id, key] of [
    [lost, 'a key of the installation that was lost'],
    [kept, OLD],
  ] as const) {
    await sql`insert into users (id, email, password_hash) values (${id ?? ''}, ${`${id}@b.test`}, '')`;
    await sql`insert into user_totps (user_id, sealed_secret)
      values (${id ?? ''}, ${createSecrets(key).seal(TOTP_PURPOSE, 'SECRET')})`;
  }
  await (await start(NEW, OLD)).reseal();
  const [row] = await sql`select sealed_secret from user_totps where user_id = ${kept ?? ''}`;
  expect(createSecrets(NEW).unseal(TOTP_PURPOSE, row?.['sealed_secret'] as string)).toBe('SECRET');
});

it('an api with a wrong secret key does not start, and the error names the setting', async () => {
  await start(OLD);
  await expect(start(NEW)).rejects.toThrow('GANTRY_SECRET_KEY');
});
