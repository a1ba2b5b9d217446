import { readFile } from 'node:fs/promises';
import { execute } from '../execute.ts';

export type SshKey = { privateFile: string; publicLine: string };

/** Creates a key pair in the directory. */
export async function makeSshKey(directory: string, name: string): Promise<SshKey> {
  const privateFile = `${directory}/${name}`;
  await execute('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', privateFile);
  return { privateFile, publicLine: (await readFile(`${privateFile}.pub`, 'utf8')).trim() };
}

export type SshTarget = { address: string; port?: number; key: SshKey; user?: string };

/** The host key of a guest is always unknown, and an emulated guest is slow. */
const OPTIONS = [
  'BatchMode=yes',
  'IdentitiesOnly=yes',
  'StrictHostKeyChecking=no',
  'UserKnownHostsFile=/dev/null',
  'LogLevel=ERROR',
  'ConnectTimeout=20',
].flatMap((option) => ['-o', option]);

/** Returns the program and arguments, to be run where the guest can be reached. */
export function sshCommand(target: SshTarget, command: string): [string, ...string[]] {
  const { address, port = 22, key, user = 'root' } = target;
  const where = ['-i', key.privateFile, '-p', `${port}`, `${user}@${address}`];
  return ['ssh', '-F', 'none', ...OPTIONS, ...where, command];
}

/**
 * Returns the output of the command in the guest. Rejects with the error of SSH if it or the login
 * failed.
 */
export function ssh(target: SshTarget, command: string): Promise<string> {
  return execute(...sshCommand(target, command));
}
