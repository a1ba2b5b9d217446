import { createSecrets } from '@gantry/daemon/secrets';
import { makeAuthority } from '@gantry/pki/certificate-authority';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ensureAuthority, readGivenAuthority } from './authority.ts';
import { secrets } from './testing/test-fleet.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

it('the authority is created once by concurrent schedulers and found again later', async () => {
  const { sql } = database;
  const made = await Promise.all(
    Array.from({ length: 8 }, () => ensureAuthority({ sql, secrets })),
  );
  const again = await ensureAuthority({ sql, secrets });
  expect(new Set([...made, again].map(({ fingerprint }) => fingerprint)).size).toBe(1);
});

it('the private key is stored sealed', async () => {
  const { sql } = database;
  await ensureAuthority({ sql, secrets });
  const [row] = await sql`select sealed_private_key from fleet_authorities`;
  const sealed = row?.['sealed_private_key'] as string;
  expect(sealed).not.toContain('PRIVATE');
  expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('PRIVATE');
  expect(secrets.unseal('fleet authority', sealed)).toContain('PRIVATE KEY');
});

it('a wrong secret key is an error of one line', async () => {
  const { sql } = database;
  await ensureAuthority({ sql, secrets });
  const others = createSecrets('another secret key for tests, as long');
  await expect(ensureAuthority({ sql, secrets: others })).rejects.toThrow(
    /^GANTRY_SECRET_KEY is not the one .*$/,
  );
});

it("the key of an operator's authority is not stored and must be given each time", async () => {
  const { sql } = database;
  const given = makeAuthority();
  const first = await ensureAuthority({ sql, secrets, given });
  expect(first.certificatePem).toBe(given.certificatePem);
  expect(await sql`select sealed_private_key from fleet_authorities`).toEqual([
    { sealed_private_key: '' },
  ]);
  expect((await ensureAuthority({ sql, secrets, given })).fingerprint).toBe(first.fingerprint);
  await expect(ensureAuthority({ sql, secrets })).rejects.toThrow('GANTRY_CA_KEY_FILE');
});

it('another authority does not replace the stored one', async () => {
  const { sql } = database;
  const { fingerprint } = await ensureAuthority({ sql, secrets });
  await expect(ensureAuthority({ sql, secrets, given: makeAuthority() })).rejects.toThrow(
    fingerprint,
  );
  expect((await ensureAuthority({ sql, secrets })).fingerprint).toBe(fingerprint);
});

it('a certificate and a key that do not match are refused', async () => {
  const given = { ...makeAuthority(), privateKeyPem: makeAuthority().privateKeyPem };
  await expect(ensureAuthority({ sql: database.sql, secrets, given })).rejects.toThrow(
    /GANTRY_CA_CERT_FILE and GANTRY_CA_KEY_FILE do not make an authority/,
  );
  await expect(readGivenAuthority({ certFile: 'a', keyFile: undefined })).rejects.toThrow(
    'together',
  );
});
