import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { LIBVIRT_SOCKET } from './look-at-machine.ts';

const run = promisify(execFile);
/** As the agent names domains. */
const DOMAIN = /^gantry-[0-9a-f-]{36}$/;
/** A list of names; a daemon that takes longer hangs. */
const LIMIT_MS = 10_000;

/** The VMs of Gantry that run on this machine, as libvirt calls them. */
export async function listGuests(socketPath: string): Promise<string[]> {
  const args = ['-c', connectionUri(socketPath), 'list', '--name'];
  const { stdout } = await run('virsh', args, { timeout: LIMIT_MS });
  return stdout.split('\n').filter((name) => DOMAIN.test(name));
}

type Left = { guests: readonly string[]; socketPath: string; daemonsLeft: boolean };

/** What runs on after the launcher, and how to be rid of it. */
export function describeGuestsLeft({ guests, socketPath, daemonsLeft }: Left): string {
  const isOne = guests.length === 1;
  const connection = socketPath === LIBVIRT_SOCKET ? '' : ` -c '${connectionUri(socketPath)}'`;
  const commands = guests.map((name) => `  virsh${connection} destroy ${name}`);
  const daemons = daemonsLeft ? ' So do virtlogd and libvirtd, which were started for that.' : '';
  return `
${isOne ? 'A VM runs' : `${guests.length} VMs run`} on on this machine, as on any host whose agent is away.${daemons}
npm start -- --real takes ${isOne ? 'it' : 'them'} over again; deleted there, nothing is left. To pull ${isOne ? 'its plug' : 'their plugs'} instead:

${commands.join('\n')}
`;
}

function connectionUri(socketPath: string): string {
  return `qemu:///system?socket=${socketPath}`;
}
