import { readFile } from 'node:fs/promises';
import { SettingsError } from '@gantry/daemon/settings';
import type { Queryable } from '@gantry/db/connect';
import {
  type FleetAuthorityRow,
  insertFleetAuthority,
  listFleetAuthorities,
  updateSealedAuthority,
} from '@gantry/db/queries/hosts/fleet-authorities';
import {
  type AuthorityFiles,
  type CertificateAuthority,
  loadAuthority,
  makeAuthority,
} from '@gantry/pki/certificate-authority';
import { type Authorities, authoritiesOf } from './authorities.ts';
import type { FleetSecrets } from './fleet-secrets.ts';

const PURPOSE = 'fleet authority';
/** The authority that the first scheduler stored. */
const FIRST_ID = 1;

type Options = {
  sql: Queryable;
  fleetSecrets: FleetSecrets;
  /** The operator's own authority. Undefined: one is created and stored in the database. */
  given?: AuthorityFiles | undefined;
  /** False if there is no fleet key: api processes could open the key of a new authority. */
  mayCreate?: boolean;
  /** The time of the database. */
  now?: Date;
};

/**
 * Returns the authorities of the fleet. The first scheduler stores the first one; all other
 * schedulers, also those that start at the same moment, read that one.
 */
export async function ensureAuthorities({
  sql,
  fleetSecrets,
  given,
  mayCreate = true,
  now = new Date(),
}: Options): Promise<Authorities> {
  const known = await readAuthorities({ sql, fleetSecrets, given });
  if (known) return known;
  if (!given && !mayCreate) {
    throw new SettingsError(
      "GANTRY_FLEET_KEY or GANTRY_FLEET_KEY_FILE must be set: it seals the key of the fleet's authority, which is created now",
    );
  }
  const files = given ?? makeAuthority({ now });
  const { certificatePem, fingerprint } = loadGiven(files);
  await insertFleetAuthority(sql, {
    certificate_pem: certificatePem,
    fingerprint,
    sealed_private_key: given ? '' : sealAuthorityKey(fleetSecrets, files),
  });
  const made = await readAuthorities({ sql, fleetSecrets, given });
  if (!made) throw new Error("BUG: the fleet's authority was stored and cannot be read");
  return made;
}

/** Returns the authorities of the fleet, or undefined if there is none yet. */
export async function readAuthorities({
  sql,
  fleetSecrets,
  given,
}: Pick<Options, 'sql' | 'fleetSecrets' | 'given'>): Promise<Authorities | undefined> {
  const rows = await listFleetAuthorities(sql);
  const trusted = rows.filter(({ state }) => state !== 'withdrawn');
  const own = chooseGiven(rows, given);
  const [newest, ...older] = trusted.map((row) => openAuthority({ row, fleetSecrets, own }));
  if (!newest) return undefined;
  for (const row of trusted) {
    if (row.sealed_private_key !== '') await resealKey(sql, fleetSecrets, row);
  }
  return authoritiesOf([newest, ...older]);
}

/**
 * Returns the operator's own authority, or undefined if it was withdrawn: the settings may still
 * name it. Throws if it is none of this fleet.
 */
function chooseGiven(
  rows: readonly FleetAuthorityRow[],
  given: AuthorityFiles | undefined,
): CertificateAuthority | undefined {
  if (!given) return undefined;
  const authority = loadGiven(given);
  const row = rows.find(({ fingerprint }) => fingerprint === authority.fingerprint);
  if (rows.length === 0 || row) return row?.state === 'withdrawn' ? undefined : authority;
  const theirs = rows.find(({ state }) => state === 'issuing')?.fingerprint;
  throw new SettingsError(
    `GANTRY_CA_CERT_FILE is not the authority that this fleet's hosts trust: its SHA-256 is ${authority.fingerprint}, theirs ${theirs}`,
  );
}

type Opening = {
  row: FleetAuthorityRow;
  fleetSecrets: FleetSecrets;
  /** The operator's own authority. */
  own: CertificateAuthority | undefined;
};

function openAuthority({ row, fleetSecrets, own }: Opening): CertificateAuthority {
  if (own?.fingerprint === row.fingerprint) return own;
  if (row.sealed_private_key === '') {
    throw new SettingsError(
      `this fleet's authority was given by its operator: set GANTRY_CA_CERT_FILE and GANTRY_CA_KEY_FILE to the one with SHA-256 ${row.fingerprint}`,
    );
  }
  return loadAuthority({
    certificatePem: row.certificate_pem,
    privateKeyPem: unsealAuthorityKey(fleetSecrets, row),
  });
}

/** Returns the key in the form in which it is stored. */
export function sealAuthorityKey({ secrets }: FleetSecrets, files: AuthorityFiles): string {
  return secrets.seal(PURPOSE, files.privateKeyPem);
}

/** Moves the stored key to the first of the keys, so that the others can be removed. */
async function resealKey(
  sql: Queryable,
  fleetSecrets: FleetSecrets,
  row: FleetAuthorityRow,
): Promise<void> {
  const { secrets } = fleetSecrets;
  const from = row.sealed_private_key;
  let to: string | undefined;
  try {
    to = secrets.reseal(PURPOSE, from);
  } catch {
    to = secrets.seal(PURPOSE, unsealAuthorityKey(fleetSecrets, row));
  }
  if (to !== undefined) await updateSealedAuthority(sql, { from, to });
}

/** Throws an error that names the settings if none of the keys opens it. */
export function unsealAuthorityKey(
  { secrets, legacy }: FleetSecrets,
  row: FleetAuthorityRow,
): string {
  const sealed = row.sealed_private_key;
  try {
    return secrets.unseal(PURPOSE, sealed);
  } catch (cause) {
    try {
      if (legacy && row.id === FIRST_ID) return legacy.unseal(PURPOSE, sealed);
    } catch {
      // The error below names both settings.
    }
    throw new SettingsError(
      "neither GANTRY_FLEET_KEY nor GANTRY_SECRET_KEY is the key that this fleet's authority was sealed with",
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
