import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { createSettingsReader, SettingsError } from '@gantry/daemon/settings';
import { connect, type Sql } from '@gantry/db/connect';
import { createBackup } from './backup/create-backup.ts';
import { readCredentials } from './backup/credentials.ts';
import { restoreBackup, verifyBackup } from './backup/restore-backup.ts';
import { byCommand, byPassphrase, type KeyWrapping } from './backup/wrap-key.ts';

/**
 * Run by an operator, or by a timer, to back up the database with the keys that open it, to verify a
 * backup, and to restore it; docs/operators/backup.md shows how. The exit status is 1 if the command was
 * refused. After a restoration, `restore` compares hosts and database.
 */
const USAGE = `usage: backup create FILE (--passphrase-file FILE | --wrap-command COMMAND)
       backup verify FILE (--passphrase-file FILE | --unwrap-command COMMAND)
       backup restore FILE --credentials DIRECTORY (--passphrase-file FILE | --unwrap-command COMMAND)`;
const print = (line: string) => process.stdout.write(`${line}\n`);
const MEGABYTE = 1_000_000;

const reader = createSettingsReader();

async function readWrapping(
  passphraseFile: string | undefined,
  command: string | undefined,
): Promise<KeyWrapping> {
  if ((passphraseFile === undefined) === (command === undefined)) throw new SettingsError(USAGE);
  if (passphraseFile === undefined) return byCommand(command ?? '');
  return byPassphrase((await readFile(passphraseFile, 'utf8')).trimEnd());
}

async function withDatabase<T>(work: (sql: Sql, databaseUrl: string) => Promise<T>): Promise<T> {
  const databaseUrl = reader.secret('DATABASE_URL');
  // Schedulers end sessions with names of Gantry that are idle in a transaction, and this one is while
  // pg_dump reads its snapshot.
  const options = { url: databaseUrl, name: 'backup-of-gantry', maxConnections: 1 };
  const sql = connect({ ...options, statementLimitMs: 0 });
  try {
    return await work(sql, databaseUrl);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

async function create(file: string, wrapping: KeyWrapping): Promise<void> {
  const credentials = await readCredentials(reader);
  const { created_at, sizeBytes } = await withDatabase((sql, databaseUrl) =>
    createBackup({ sql, databaseUrl, credentials, wrapping, file }),
  );
  const size = (sizeBytes / MEGABYTE).toFixed(1);
  print(
    `${file}: ${size} MB, the database of ${created_at} and ${[...credentials.keys()].join(', ')}`,
  );
}

async function verify(file: string, wrapping: KeyWrapping): Promise<void> {
  const { created_at, migrations, credentials } = await verifyBackup(file, wrapping);
  const facts = `the database of ${created_at} with ${migrations} migrations`;
  print(`${file}: complete, ${facts} and ${credentials.join(', ')}`);
}

async function restore(
  file: string,
  { wrapping, credentialsDirectory }: { wrapping: KeyWrapping; credentialsDirectory: string },
): Promise<void> {
  const { created_at } = await withDatabase((sql, databaseUrl) =>
    restoreBackup({ sql, databaseUrl, wrapping, file, credentialsDirectory }),
  );
  print(`Restored the database of ${created_at}, and its keys in ${credentialsDirectory}.`);
  print('Start the schedulers, run the command restore, then start the apis.');
}

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      'passphrase-file': { type: 'string' },
      'wrap-command': { type: 'string' },
      'unwrap-command': { type: 'string' },
      credentials: { type: 'string' },
    },
  });
  const [step = '', file = '', ...more] = positionals;
  if (file === '' || more.length > 0) throw new SettingsError(USAGE);
  const command = values[step === 'create' ? 'wrap-command' : 'unwrap-command'];
  const wrapping = await readWrapping(values['passphrase-file'], command);
  const { credentials } = values;
  if (step === 'create' && credentials === undefined) await create(file, wrapping);
  else if (step === 'verify' && credentials === undefined) await verify(file, wrapping);
  else if (step === 'restore' && credentials !== undefined)
    await restore(file, { wrapping, credentialsDirectory: credentials });
  else throw new SettingsError(USAGE);
} catch (error) {
  const isExpected = error instanceof SettingsError || isSystemError(error);
  if (!isExpected) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

/** A file that cannot be read or written, or a wrong option. The message names it. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error;
}
