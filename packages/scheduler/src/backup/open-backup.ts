import { createReadStream } from 'node:fs';
import { SettingsError } from '@gantry/daemon/settings';
import { decryptAge } from './age.ts';
import type { Manifest } from './create-backup.ts';
import { CREDENTIAL_NAME, type Credentials } from './credentials.ts';
import { readTar, type TarEntry } from './tar.ts';
import type { KeyWrapping } from './wrap-key.ts';

/** A backup whose first part was read. The dump is read as it is consumed. */
export type OpenBackup = {
  manifest: Manifest;
  credentials: Credentials;
  /** Throws at its end if the file was changed or is not complete. */
  dump: AsyncIterable<Buffer>;
};

export async function openBackup(file: string, wrapping: KeyWrapping): Promise<OpenBackup> {
  const decrypted = decryptAge(createReadStream(file), wrapping.unwrap);
  const entries = explained(file, readTar(decrypted));
  const first = await next(entries);
  const manifest = first?.name === 'manifest.json' && JSON.parse(first.content.toString());
  if (manifest?.format !== 1)
    throw new SettingsError(`${file}: it is the backup of another version of Gantry`);
  const credentials: Credentials = new Map();
  let entry = await next(entries);
  for (; entry?.name.startsWith('credentials/'); entry = await next(entries)) {
    const name = entry.name.slice('credentials/'.length);
    if (!CREDENTIAL_NAME.test(name)) throw new SettingsError(`${file}: ${name} is no credential`);
    credentials.set(name, entry.content);
  }
  return { manifest, credentials, dump: dumpFrom(entry, entries) };
}

async function next(entries: AsyncGenerator<TarEntry>): Promise<TarEntry | undefined> {
  const { done, value } = await entries.next();
  return done ? undefined : value;
}

async function* dumpFrom(first: TarEntry | undefined, rest: AsyncGenerator<TarEntry>) {
  if (first !== undefined) yield first.content;
  for await (const { content } of rest) yield content;
}

/** Adds the name of the file to what is wrong with it. */
async function* explained<T>(file: string, items: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* items;
  } catch (error) {
    if (error instanceof SettingsError) throw error;
    throw new SettingsError(`${file}: ${(error as Error).message}`, { cause: error });
  }
}
