import { open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { syncDirectory } from '@gantry/daemon/durable-file';
import { SettingsError } from '@gantry/daemon/settings';
import type { Sql } from '@gantry/db/connect';
import { encryptAge } from './age.ts';
import { ByteReader } from './byte-reader.ts';
import { type Credentials, requireKeysOfDatabase } from './credentials.ts';
import { dumpDatabase } from './postgres-programs.ts';
import { type TarEntry, writeTar } from './tar.ts';
import type { KeyWrapping } from './wrap-key.ts';

/** The first entry of a backup. */
export type Manifest = {
  format: 1;
  created_at: string;
  /** The version of the PostgreSQL server. */
  postgres: string;
  era: number;
  migrations: number;
};

/** The dump is stored in pieces, because its size is not known before its end. */
const PIECE_BYTES = 8 * 1024 * 1024;

type Creation = {
  sql: Sql;
  databaseUrl: string;
  credentials: Credentials;
  wrapping: KeyWrapping;
  file: string;
};

/**
 * Writes a backup of the database and of the credentials:
 *
 * 1. Begins a read-only transaction and checks that the credentials open what the database has sealed.
 * 2. Lets pg_dump read the same snapshot, so what was checked is what is stored. Tenants and hosts go on
 *    working meanwhile.
 * 3. Encrypts everything as it comes: nothing of it is on a disk in clear.
 *
 * The file gets its name when it is complete and synced. A crash leaves a file that ends in `.new`.
 */
export async function createBackup(creation: Creation): Promise<Manifest & { sizeBytes: number }> {
  const { sql, credentials, wrapping, file } = creation;
  if (await stat(file).catch(() => undefined)) throw new SettingsError(`${file} exists`);
  const done = await sql.begin('isolation level repeatable read read only', async (tx) => {
    // The transaction is idle while pg_dump works.
    await tx`select set_config('idle_in_transaction_session_timeout', '0', true)`;
    await requireKeysOfDatabase(tx, credentials);
    const [row] = await tx<(Omit<Manifest, 'format' | 'created_at'> & Snapshot)[]>`
      select pg_export_snapshot() as snapshot, now() as at, era::int as era,
        current_setting('server_version') as postgres,
        (select count(*)::int from drizzle.__drizzle_migrations) as migrations
      from installation`;
    if (!row) throw new SettingsError('the database has no installation: start a scheduler once');
    const { snapshot, at, ...facts } = row;
    const manifest: Manifest = { format: 1, created_at: new Date(at).toISOString(), ...facts };
    const entries = listEntries({ ...creation, manifest, snapshot });
    const sizeBytes = await writeFile(file, encryptAge(writeTar(entries), await wrapping.wrap()));
    return { ...manifest, sizeBytes };
  });
  return done;
}

type Snapshot = { snapshot: string; at: Date };

async function* listEntries({
  manifest,
  credentials,
  databaseUrl,
  snapshot,
}: Creation & { manifest: Manifest; snapshot: string }): AsyncGenerator<TarEntry> {
  const content = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
  yield { name: 'manifest.json', content };
  for (const [name, bytes] of credentials) yield { name: `credentials/${name}`, content: bytes };
  const reader = new ByteReader(dumpDatabase(databaseUrl, { snapshot }));
  for (let number = 0; !(await reader.isAtEnd()); number += 1) {
    const name = `database/${String(number).padStart(8, '0')}`;
    yield { name, content: await reader.upTo(PIECE_BYTES) };
  }
}

async function writeFile(file: string, content: AsyncIterable<Buffer>): Promise<number> {
  const beside = `${file}.new`;
  await rm(beside, { force: true });
  const handle = await open(beside, 'wx', 0o600);
  let sizeBytes = 0;
  try {
    for await (const chunk of content) {
      await handle.writeFile(chunk);
      sizeBytes += chunk.length;
    }
    await handle.sync();
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
  await rename(beside, file);
  await syncDirectory(path.dirname(file));
  return sizeBytes;
}
