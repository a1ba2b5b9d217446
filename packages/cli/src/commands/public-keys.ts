import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { unlessMissing } from '@gantry/daemon/durable-file';
import { UsageError } from '../cli-errors.ts';

/** A key as the API takes it, and the file that it was read from if it is not a stored one. */
export type GivenKey = { sent: string; file: string | undefined };

/** The API allows these names. A file of such a name is given as `./name`. */
const STORED_NAME = /^[a-z0-9-]{1,63}$/;

/** Reads the keys of a flag: each is the name of a stored key or a file. */
export async function givenKeys(flag: string, given: readonly string[]): Promise<GivenKey[]> {
  return await Promise.all(
    given.map(async (each) =>
      STORED_NAME.test(each)
        ? { sent: each, file: undefined }
        : { sent: await readPublicKey(flag, each), file: each },
    ),
  );
}

/** The private key that belongs to the first file. */
export function privateKeyFile(keys: readonly GivenKey[]): string | undefined {
  const file = keys.find((key) => key.file !== undefined)?.file;
  return file === undefined ? undefined : path.resolve(file.replace(/\.pub$/, ''));
}

/** The names that ssh itself tries first. */
const DEFAULT_KEYS = ['id_ed25519.pub', 'id_ecdsa.pub', 'id_rsa.pub'];

export async function defaultKey(home: string): Promise<GivenKey> {
  for (const name of DEFAULT_KEYS) {
    const file = path.join(home, '.ssh', name);
    const text = await unlessMissing(readFile(file, 'utf8'));
    if (text !== undefined) return { sent: text.trim(), file };
  }
  throw new UsageError(`there is no public key in ${home}/.ssh: give one with --ssh-key FILE`);
}

/** Throws if the file has a private key: everyone who may read the project could read it. */
export async function readPublicKey(flag: string, file: string): Promise<string> {
  const text = await readGiven(flag, file);
  if (text.includes('PRIVATE KEY'))
    throw new UsageError(`${flag}: ${file} is a private key. Give the public one: ${file}.pub`);
  return text.trim();
}

export async function readGiven(flag: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${flag}: ${(error as Error).message}`);
  }
}
