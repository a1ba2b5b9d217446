import { readFile } from 'node:fs/promises';
import type { Secrets } from '@gantry/daemon/secrets';
import { SettingsError } from '@gantry/daemon/settings';
import type { Queryable } from '@gantry/db/connect';
import {
  type FleetAuthorityRow,
  insertFleetAuthority,
  readFleetAuthority,
} from '@gantry/db/queries/hosts/fleet-authorities';
import {
  type AuthorityFiles,
  type CertificateAuthority,
  loadAuthority,
  makeAuthority,
} from '@gantry/pki/certificate-authority';

const PURPOSE = 'fleet authority';

type Options = {
  sql: Queryable;
  secrets: Secrets;
  /** The operator's own authority. Undefined: one is created and stored in the database. */
  given?: AuthorityFiles | undefined;
};

/**
 * Returns the fleet's certificate authority. The first scheduler stores it; all other schedulers, also
 * those that start at the same moment, read that one.
 */
export async function ensureAuthority({
  sql,
  secrets,
  given,
}: Options): Promise<CertificateAuthority> {
  const known = await readFleetAuthority(sql);
  if (known) return openAuthority({ row: known, secrets, given });
  const files = given ?? makeAuthority();
  const { certificatePem, fingerprint } = loadGiven(files);
  await insertFleetAuthority(sql, {
    certificate_pem: certificatePem,
    fingerprint,
    sealed_private_key: given ? '' : secrets.seal(PURPOSE, files.privateKeyPem),
  });
  const row = await readFleetAuthority(sql);
  if (!row) throw new Error("BUG: the fleet's authority was stored and cannot be read");
  return openAuthority({ row, secrets, given });
}

type Opening = Omit<Options, 'sql'> & { row: FleetAuthorityRow };

function openAuthority({ row, secrets, given }: Opening): CertificateAuthority {
  if (given) {
    const authority = loadGiven(given);
    if (authority.fingerprint === row.fingerprint) return authority;
    throw new SettingsError(
      `GANTRY_CA_CERT_FILE is not the authority that this fleet's hosts trust: its SHA-256 is ${authority.fingerprint}, theirs ${row.fingerprint}`,
    );
  }
  if (row.sealed_private_key === '') {
    throw new SettingsError(
      `this fleet's authority was given by its operator: set GANTRY_CA_CERT_FILE and GANTRY_CA_KEY_FILE to the one with SHA-256 ${row.fingerprint}`,
    );
  }
  return loadAuthority({
    certificatePem: row.certificate_pem,
    privateKeyPem: unsealKey(secrets, row.sealed_private_key),
  });
}

function unsealKey(secrets: Secrets, sealed: string): string {
  try {
    return secrets.unseal(PURPOSE, sealed);
  } catch (cause) {
    throw new SettingsError(
      "GANTRY_SECRET_KEY is not the one that this fleet's authority was sealed with",
      { cause },
    );
  }
}

function loadGiven(files: AuthorityFiles): CertificateAuthority {
  try {
    return loadAuthority(files);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new SettingsError(
      `GANTRY_CA_CERT_FILE and GANTRY_CA_KEY_FILE do not make an authority: ${why}`,
      { cause },
    );
  }
}

/** Reads the operator's authority. Returns undefined if neither file is set. */
export async function readGivenAuthority({
  certFile,
  keyFile,
}: {
  certFile: string | undefined;
  keyFile: string | undefined;
}): Promise<AuthorityFiles | undefined> {
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile === undefined || keyFile === undefined) {
    throw new SettingsError('GANTRY_CA_CERT_FILE and GANTRY_CA_KEY_FILE must be set together');
  }
  return {
    certificatePem: await readFile(certFile, 'utf8'),
    privateKeyPem: await readFile(keyFile, 'utf8'),
  };
}
