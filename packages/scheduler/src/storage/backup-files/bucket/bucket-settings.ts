import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { SettingsError, type SettingsReader } from '@gantry/daemon/settings';

/** A bucket for backups, and how to reach it. */
export type BucketSettings = {
  /** Scheme, host and port. The bucket is the first part of the path of every request. */
  endpoint: string;
  bucket: string;
  /** What the names of all objects begin with: empty, or with a slash at its end. */
  prefix: string;
  region: string;
  keyId: string;
  secret: string;
  /** Certificates in PEM of the authorities that sign the endpoint's; undefined: those that Node trusts. */
  authorities: string | undefined;
};

const NAME = 'GANTRY_BACKUP_BUCKET';
const DIRECTORY = 'GANTRY_BACKUP_DIRECTORY';
const REGION = `${NAME}_REGION`;
const KEY_ID = `${NAME}_KEY_ID`;
export const BUCKET_SECRET = `${NAME}_SECRET`;
const CA_FILE = `${NAME}_CA_FILE`;

/** The names of objects are signed and quoted in replies, so that only characters are allowed that need no escape. */
const NAME_PART = /^[A-Za-z0-9._-]+$/;

/**
 * Returns the bucket; undefined: backups are stored in the directory itself. Every setting that would be ignored is refused,
 * so that a forgotten `GANTRY_BACKUP_BUCKET` does not quietly fill the directory.
 */
export function readBucketSettings(
  reader: SettingsReader,
  directory: string | undefined,
): BucketSettings | undefined {
  const url = reader.optional(NAME);
  const region = reader.optional(REGION);
  const keyId = reader.optional(KEY_ID);
  const secret = reader.optionalSecret(BUCKET_SECRET);
  const caFile = reader.optional(CA_FILE);
  if (url === undefined) {
    const others = {
      [REGION]: region,
      [KEY_ID]: keyId,
      [BUCKET_SECRET]: secret,
      [CA_FILE]: caFile,
    };
    const [unused] = Object.entries(others).find(([, value]) => value !== undefined) ?? [];
    if (unused !== undefined) throw new SettingsError(`${unused} is set, but ${NAME} is not`);
    return undefined;
  }
  const place = parsePlace(url);
  if (directory === undefined)
    throw new SettingsError(
      `${DIRECTORY} must be set: with ${NAME} it is the directory for files on their way to the bucket`,
    );
  if (keyId === undefined) throw new SettingsError(`${KEY_ID} must be set, because ${NAME} is`);
  if (secret === undefined)
    throw new SettingsError(
      `${BUCKET_SECRET} or ${BUCKET_SECRET}_FILE must be set, because ${NAME} is`,
    );
  if (caFile !== undefined && !place.endpoint.startsWith('https:'))
    throw new SettingsError(`${CA_FILE} is set, but ${NAME} is not an https URL`);
  return {
    ...{ ...place, region: region ?? 'us-east-1', keyId, secret },
    authorities: caFile === undefined ? undefined : readAuthorities(caFile),
  };
}

function parsePlace(text: string): Pick<BucketSettings, 'endpoint' | 'bucket' | 'prefix'> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['https:', 'http:'].includes(url.protocol))
    throw new SettingsError(
      `${NAME} must be a URL such as https://s3.example.com/bucket, or https://s3.example.com/bucket/folder`,
    );
  if (url.username !== '' || url.password !== '')
    throw new SettingsError(
      `${NAME} must not contain a user or a password: use ${KEY_ID} and ${BUCKET_SECRET}`,
    );
  if (url.search !== '' || url.hash !== '')
    throw new SettingsError(`${NAME} must not have a query or a fragment`);
  const [bucket = '', ...folders] = url.pathname.replace(/^\//, '').replace(/\/$/, '').split('/');
  if (bucket === '')
    throw new SettingsError(`${NAME} must have the name of the bucket as its path: /bucket`);
  for (const part of [bucket, ...folders])
    if (!NAME_PART.test(part))
      throw new SettingsError(
        `${NAME} may have letters, digits, ".", "_" and "-" between the slashes of its path, not "${part}"`,
      );
  return { endpoint: url.origin, bucket, prefix: folders.map((folder) => `${folder}/`).join('') };
}

function readAuthorities(file: string): string {
  try {
    const text = readFileSync(file, 'utf8');
    // Node ignores what it cannot read, and would then refuse the endpoint without a hint.
    new X509Certificate(text);
    return text;
  } catch (cause) {
    throw new SettingsError(`${CA_FILE} has no certificate in PEM that can be read: ${file}`, {
      cause,
    });
  }
}
