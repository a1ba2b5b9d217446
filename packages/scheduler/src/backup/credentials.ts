import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { replaceFile, unlessMissing } from '@gantry/daemon/durable-file';
import { createSecrets } from '@gantry/daemon/secrets';
import { SettingsError, type SettingsReader } from '@gantry/daemon/settings';
import type { Queryable } from '@gantry/db/connect';
import { listFleetAuthorities } from '@gantry/db/queries/hosts/fleet-authorities';
import { listSealedSigningKeys, SIGNING_KEY_PURPOSE } from '@gantry/db/queries/tenants/sealed';
import { unsealAuthorityKey } from '../fleet/authority.ts';
import { createFleetSecrets } from '../fleet/fleet-secrets.ts';

/** The files without which the database cannot be used, by name. */
export type Credentials = Map<string, Buffer>;

/** A restored database may be elsewhere, so its address is not part of a backup. */
const LEFT_OUT = 'DATABASE_URL';
export const CREDENTIAL_NAME = /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,60}$/;
const MAX_CREDENTIAL_BYTES = 1_048_576;

/**
 * Reads every file of the directory that CREDENTIALS_DIRECTORY names, then the keys of this process and
 * the operator's own authority, wherever they are.
 */
export async function readCredentials(reader: SettingsReader): Promise<Credentials> {
  const found: Credentials = new Map();
  const directory = reader.optional('CREDENTIALS_DIRECTORY');
  for (const name of directory === undefined ? [] : await readdir(directory)) {
    const file = path.join(directory ?? '', name);
    const { size } = await stat(file);
    if (name === LEFT_OUT || !CREDENTIAL_NAME.test(name) || size > MAX_CREDENTIAL_BYTES) continue;
    found.set(name, await readFile(file));
  }
  const own = {
    'ca-cert.pem': reader.optional('GANTRY_CA_CERT_FILE'),
    'ca-key.pem': reader.optional('GANTRY_CA_KEY_FILE'),
  };
  for (const [name, file] of Object.entries(own))
    if (file !== undefined) found.set(name, await readFile(file));
  found.set('GANTRY_SECRET_KEY', Buffer.from(`${reader.secret('GANTRY_SECRET_KEY')}\n`));
  const fleetKey = reader.optionalSecret('GANTRY_FLEET_KEY');
  if (fleetKey !== undefined) found.set('GANTRY_FLEET_KEY', Buffer.from(`${fleetKey}\n`));
  return found;
}

/**
 * Throws unless the keys open what the database has sealed. A backup with other keys could be restored,
 * but no host could attach and no one could log in.
 */
export async function requireKeysOfDatabase(sql: Queryable, found: Credentials): Promise<void> {
  const textOf = (name: string) => found.get(name)?.toString().trimEnd();
  const secretKey = textOf('GANTRY_SECRET_KEY') ?? '';
  const fleetSecrets = createFleetSecrets({ fleetKey: textOf('GANTRY_FLEET_KEY'), secretKey });
  for (const row of await listFleetAuthorities(sql)) {
    if (row.state === 'withdrawn') continue;
    if (row.sealed_private_key !== '') unsealAuthorityKey(fleetSecrets, row);
    else if (!found.has('ca-key.pem'))
      throw new SettingsError(
        `this fleet's authority was given by its operator: set GANTRY_CA_CERT_FILE and GANTRY_CA_KEY_FILE to the one with SHA-256 ${row.fingerprint}`,
      );
  }
  const secrets = createSecrets(secretKey);
  const signing = await listSealedSigningKeys(sql);
  const opens = ({ sealed }: { sealed: string }) => {
    try {
      return secrets.unseal(SIGNING_KEY_PURPOSE, sealed) !== '';
    } catch {
      return false;
    }
  };
  if (signing.length > 0 && !signing.some(opens))
    throw new SettingsError(
      'GANTRY_SECRET_KEY is not the key of this database: no signing key opens',
    );
}

/** Writes the files that are missing. A file with other content is refused, and then none is written. */
export async function writeCredentials(directory: string, found: Credentials): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const missing: [string, Buffer][] = [];
  for (const [name, content] of found) {
    const file = path.join(directory, name);
    const there = await unlessMissing(readFile(file));
    if (there === undefined) missing.push([file, content]);
    else if (!there.equals(content))
      throw new SettingsError(
        `${file} exists and is not the one of the backup: move it away, or give another --credentials`,
      );
  }
  for (const [file, content] of missing) await replaceFile(file, content, 0o600);
}
