import { spawn } from 'node:child_process';
import {
  createCipheriv,
  createDecipheriv,
  randomBytes,
  type ScryptOptions,
  scrypt as scryptCallback,
} from 'node:crypto';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { SettingsError } from '@gantry/daemon/settings';
import { FILE_KEY_BYTES, type Stanza } from './age.ts';

const scrypt = promisify<string, Buffer, number, ScryptOptions, Buffer>(scryptCallback);

/** How the key of a backup is protected: by a passphrase, or by a program of the operator. */
export type KeyWrapping = {
  wrap(): Promise<{ fileKey: Buffer; stanza: Stanza }>;
  unwrap(stanza: Stanza): Promise<Buffer>;
};

const SCRYPT = 'scrypt';
const COMMAND = 'gantry-command';
const LABEL = 'age-encryption.org/v1/scrypt';
/** The logarithm of the cost, as `age` has it: a second and 256 MiB for each guess. */
const WORK_FACTOR = 18;
/** A file with more would keep this computer busy for minutes. */
const MAX_WORK_FACTOR = 20;
const MIN_PASSPHRASE_LENGTH = 12;
const TAG_BYTES = 16;
const NO_NONCE = Buffer.alloc(12);

export function byPassphrase(passphrase: string): KeyWrapping {
  if (passphrase.length < MIN_PASSPHRASE_LENGTH)
    throw new SettingsError(
      `--passphrase-file: the passphrase must have at least ${MIN_PASSPHRASE_LENGTH} characters`,
    );
  const keyOf = async (salt: Buffer, workFactor: number) => {
    const cost = 2 ** workFactor;
    const options = { N: cost, r: 8, p: 1, maxmem: cost * 8 * 128 * 2 };
    return await scrypt(passphrase, Buffer.concat([Buffer.from(LABEL), salt]), 32, options);
  };
  return {
    async wrap() {
      const fileKey = randomBytes(FILE_KEY_BYTES);
      const salt = randomBytes(16);
      const cipher = createCipheriv('chacha20-poly1305', await keyOf(salt, WORK_FACTOR), NO_NONCE, {
        authTagLength: TAG_BYTES,
      });
      const body = Buffer.concat([cipher.update(fileKey), cipher.final(), cipher.getAuthTag()]);
      const args = [salt.toString('base64').replaceAll('=', ''), String(WORK_FACTOR)];
      return { fileKey, stanza: { type: SCRYPT, args, body } };
    },
    async unwrap({ type, args: [salt = '', workFactor = ''], body }) {
      if (type !== SCRYPT)
        throw new SettingsError('the backup has no passphrase: give --unwrap-command');
      const isAccepted = /^[1-9]\d?$/.test(workFactor) && Number(workFactor) <= MAX_WORK_FACTOR;
      if (!isAccepted || body.length !== FILE_KEY_BYTES + TAG_BYTES)
        throw new Error('its header has another form');
      const key = await keyOf(Buffer.from(salt, 'base64'), Number(workFactor));
      const options = { authTagLength: TAG_BYTES };
      const decipher = createDecipheriv('chacha20-poly1305', key, NO_NONCE, options);
      decipher.setAuthTag(body.subarray(FILE_KEY_BYTES));
      try {
        const opened = decipher.update(body.subarray(0, FILE_KEY_BYTES));
        return Buffer.concat([opened, decipher.final()]);
      } catch (cause) {
        throw new SettingsError('the passphrase is not that of the backup', { cause });
      }
    },
  };
}

/**
 * The program gets the key as base64 on its standard input and prints it wrapped, or the reverse. What it
 * prints is stored in the backup, so it must be able to unwrap it without anything else.
 */
export function byCommand(command: string): KeyWrapping {
  return {
    async wrap() {
      const fileKey = randomBytes(FILE_KEY_BYTES);
      const body = await runCommand(command, Buffer.from(`${fileKey.toString('base64')}\n`));
      if (body.length === 0) throw new SettingsError(`--wrap-command: ${command} printed nothing`);
      return { fileKey, stanza: { type: COMMAND, args: [], body } };
    },
    async unwrap({ type, body }) {
      if (type !== COMMAND)
        throw new SettingsError('the backup has a passphrase: give --passphrase-file');
      const fileKey = Buffer.from((await runCommand(command, body)).toString().trim(), 'base64');
      if (fileKey.length === FILE_KEY_BYTES) return fileKey;
      throw new SettingsError(`--unwrap-command: ${command} printed no key`);
    },
  };
}

async function runCommand(command: string, input: Buffer): Promise<Buffer> {
  const child = spawn('/bin/sh', ['-c', command], { stdio: ['pipe', 'pipe', 'inherit'] });
  // A program may end before it has read its input. Its exit code shows whether it failed.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const closed = once(child, 'close');
  const chunks: Buffer[] = [];
  for await (const chunk of child.stdout) chunks.push(chunk);
  const [code] = await closed;
  if (code !== 0) throw new SettingsError(`${command} ended with status ${code}`);
  return Buffer.concat(chunks);
}
