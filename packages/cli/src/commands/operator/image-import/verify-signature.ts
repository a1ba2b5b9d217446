import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ExecError, exec } from '@gantry/daemon/exec';
import { ImportError } from '../../../cli-errors.ts';
import type { SigningKey } from './image-list.ts';

const GPGV_LIMIT_MS = 30_000;

type Signed = { key: SigningKey; content: Buffer; signature: Buffer; file: string };

/**
 * Verifies a detached signature with gpgv, which trusts every key in its keyring. The keyring has the
 * one key of the list, and the fingerprint that gpgv reports must be the one of the list as well.
 */
export async function verifySignature({ key, content, signature, file }: Signed): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), 'gantry-import-'));
  const inside = (name: string) => path.join(directory, name);
  try {
    await writeFile(inside('key.gpg'), Buffer.from(key.base64.join(''), 'base64'));
    await writeFile(inside('content'), content);
    await writeFile(inside('signature'), signature);
    const keyring = ['--keyring', inside('key.gpg'), '--homedir', directory];
    const args = ['--status-fd', '1', ...keyring, inside('signature'), inside('content')];
    const status = await exec('gpgv', args, { timeoutMs: GPGV_LIMIT_MS }).catch((error) => {
      throw refused(error, { key, file });
    });
    // VALIDSIG ends with the fingerprint of the primary key.
    const valid = /^\[GNUPG:\] VALIDSIG .* ([0-9A-F]{40})$/m.exec(status.toString());
    if (valid?.[1] !== key.fingerprint)
      throw new ImportError(`${file}: it is not signed with the key ${key.fingerprint}`);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function refused(error: unknown, { key, file }: Pick<Signed, 'key' | 'file'>): ImportError {
  if (error instanceof ExecError && error.reason === 'not installed')
    return new ImportError('gpgv is not installed, and verifies signatures. Run: apt install gpgv');
  const why = error instanceof ExecError ? error.stderr.split('\n').at(-1) : String(error);
  const wanted = `the key ${key.fingerprint} (${key.owner})`;
  return new ImportError(`${file}: the signature of ${wanted} is not valid: ${why}`, error);
}
