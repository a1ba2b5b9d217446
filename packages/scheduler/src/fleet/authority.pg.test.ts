import { createSecrets, type Secrets } from '@gantry/daemon/secrets';
import { loadAuthority, makeAuthority } from '@gantry/pki/certificate-authority';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ensureAuthorities, readGivenAuthority } from './authority.ts';
import { createFleetSecrets } from './fleet-secrets.ts';
import { secrets } from './testing/test-fleet.ts';

let database: TestDatabase;
type Options = Omit<Parameters<typeof ensureAuthorities>[0], 'fleetSecrets'> & {
  secrets: Secrets;
  legacy?: Secrets;
};
const ensureAuthority = async ({ secrets: own, legacy, ...options }: Options) => {
  const fleetSecrets = { secrets: own, ...(legacy ? { legacy } : {}) };
  return (await ensureAuthorities({ ...options, fleetSecrets })).issuing;
};
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
    /^neither GANTRY_FLEET_KEY nor GANTRY_SECRET_KEY is the key .*$/,
  );
});

it("processes without the fleet key cannot open the authority's key", async () => {
  const { sql } = database;
  const SECRET = 'the key that api processes have, long enough';
  const sealed = async () => {
    const [row] = await sql`select sealed_private_key from fleet_authorities`;
    return row?.['sealed_private_key'] as string;
  };
  const shared = createSecrets(SECRET);
  const { fingerprint } = await ensureAuthority({ sql, secrets: shared });
  expect(shared.unseal('fleet authority', await sealed())).toContain('PRIVATE KEY');

  const fleetKey = 'the fleet key, which only schedulers have';
  const schedulers = createFleetSecrets({ fleetKey, secretKey: SECRET });
  expect((await ensureAuthority({ sql, ...schedulers })).fingerprint).toBe(fingerprint);
  const stored = await sealed();
  expect(() => shared.unseal('fleet authority', stored)).toThrow();
  await expect(ensureAuthority({ sql, secrets: shared })).rejects.toThrow('GANTRY_FLEET_KEY');
});

it('an authority that an api stores is not accepted', async () => {
  const { sql } = database;
  const [fleetKey, secretKey] = ['f'.repeat(32), 's'.repeat(32)];
  const fleetSecrets = createFleetSecrets({ fleetKey, secretKey });
  await ensureAuthorities({ sql, fleetSecrets });
  const files = makeAuthority();
  const { certificatePem, fingerprint } = loadAuthority(files);
  await sql`update fleet_authorities set state = 'retiring'`;
  await sql`insert into fleet_authorities (id, certificate_pem, fingerprint, sealed_private_key)
    values (2, ${certificatePem}, ${fingerprint}, ${createSecrets(secretKey).seal('fleet authority', files.privateKeyPem)})`;
  await expect(ensureAuthorities({ sql, fleetSecrets })).rejects.toThrow('GANTRY_FLEET_KEY');
});

it('without a fleet key an authority is opened, and none is created', async () => {
  const { sql } = database;
  await expect(ensureAuthority({ sql, secrets, mayCreate: false })).rejects.toThrow(
    /^GANTRY_FLEET_KEY or GANTRY_FLEET_KEY_FILE must be set/,
  );
  expect(await sql`select from fleet_authorities`).toHaveLength(0);
  const { fingerprint } = await ensureAuthority({ sql, secrets });
  const opened = await ensureAuthority({ sql, secrets, mayCreate: false });
  expect(opened.fingerprint).toBe(fingerprint);
});

it('the secret key of the installation is refused as the fleet key', () => {
  const secretKey = `${'a'.repeat(32)}\n${'b'.repeat(32)}`;
  expect(() => createFleetSecrets({ fleetKey: 'b'.repeat(32), secretKey })).toThrow(
    'GANTRY_FLEET_KEY must not be GANTRY_SECRET_KEY',
  );
  expect(() => createFleetSecrets({ fleetKey: 'short', secretKey })).toThrow('GANTRY_FLEET_KEY');
});

it('the fleet key is replaced while schedulers run with either list of keys', async () => {
  const { sql } = database;
  const [old, fresh] = [
    'the old fleet key, which is long enough',
    'the new fleet key, which is long enough',
  ];
  const { fingerprint } = await ensureAuthority({ sql, secrets: createSecrets(`${old}`) });
  for (const keys of [
    `${old}\n${fresh}`,
    `${fresh}\n${old}`,
    `${old}\n${fresh}`,
    `${fresh}\n${old}`,
    `${fresh}`,
  ]) {
    const { fingerprint: same } = await ensureAuthority({ sql, secrets: createSecrets(keys) });
    expect(same).toBe(fingerprint);
  }
  await expect(ensureAuthority({ sql, secrets: createSecrets(`${old}`) })).rejects.toThrow();
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
