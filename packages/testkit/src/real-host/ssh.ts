import { readFile } from 'node:fs/promises';
import { execute } from './execute.ts';

export type SshKey = { privateFile: string; publicLine: string };

/** A new key pair below the directory. */
export async function makeSshKey(directory: string, name: string): Promise<SshKey> {
  const privateFile = `${directory}/${name}`;
  await execute('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', privateFile);
  return { privateFile, publicLine: (await readFile(`${privateFile}.pub`, 'utf8')).trim() };
}

export type SshTarget = { address: string; port?: number; key: SshKey; user?: string };

/** A guest's host key is new to everyone, and a guest under emulation takes its time. */
const OPTIONS = [
  'BatchMode=yes',
  'IdentitiesOnly=yes',
  'StrictHostKeyChecking=no',
  'UserKnownHostsFile=/dev/null',
  'LogLevel=ERROR',
  'ConnectTimeout=20',
].flatMap((option) => ['-o', option]);

/** Program and arguments, to be run where the guest can be reached. */
export function sshCommand(target: SshTarget, command: string): [string, ...string[]] {
  const { address, port = 22, key, user = 'root' } = target;
  const where = ['-i', key.privateFile, '-p', `${port}`, `${user}@${address}`];
  return ['ssh', '-F', 'none', ...OPTIONS, ...where, command];
}

/** What the command printed in the guest. Rejects with what SSH said if it or the login failed. */
export function ssh(target: SshTarget, command: string): Promise<string> {
  return execute(...sshCommand(target, command));
}
