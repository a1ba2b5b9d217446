import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { LIBVIRT_SOCKET } from './look-at-machine.ts';

const run = promisify(execFile);
/** The agent gives domains these names. */
const DOMAIN = /^gantry-[0-9a-f-]{36}$/;
/** virsh only lists names. A daemon that takes longer hangs. */
const LIMIT_MS = 10_000;

/** Returns libvirt's names of the Gantry VMs that run on this machine. */
export async function listGuests(socketPath: string): Promise<string[]> {
  const args = ['-c', connectionUri(socketPath), 'list', '--name'];
  const { stdout } = await run('virsh', args, { timeout: LIMIT_MS });
  return stdout.split('\n').filter((name) => DOMAIN.test(name));
}

type Left = { guests: readonly string[]; socketPath: string; daemonsLeft: boolean };

/** Describes what still runs after the launcher has stopped, and how to stop it. */
export function describeGuestsLeft({ guests, socketPath, daemonsLeft }: Left): string {
  const isOne = guests.length === 1;
  const connection = socketPath === LIBVIRT_SOCKET ? '' : ` -c '${connectionUri(socketPath)}'`;
  const commands = guests.map((name) => `  virsh${connection} destroy ${name}`);
  const daemons = daemonsLeft ? ' virtlogd and libvirtd, which were started for it, run too.' : '';
  return `
${isOne ? 'A VM runs' : `${guests.length} VMs run`} on this machine, because VMs continue to run when their agent stops.${daemons}
The next npm start -- --real manages ${isOne ? 'it' : 'them'} again, and deleting ${isOne ? 'the VM' : 'the VMs'} through the API removes everything.
To power ${isOne ? 'it' : 'them'} off instead:

${commands.join('\n')}
`;
}

function connectionUri(socketPath: string): string {
  return `qemu:///system?socket=${socketPath}`;
}
