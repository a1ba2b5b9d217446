import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { StartError } from '../base/start-error.ts';
import { waitUntil } from '../base/wait-until.ts';
import { type Home, readIfThere, writePrivateFile } from '../home/home.ts';
import { readTail } from '../processes/log-file.ts';
import { isReplying, LIBVIRT_SOCKET } from './look-at-machine.ts';

/** Daemons that the launcher started. They keep running if the launcher is killed. */
export type LibvirtDaemons = { stop(): Promise<void> };

type Daemon = { name: string; command: string[]; socketPath: string };

const QEMU_CONF = '/etc/libvirt/qemu.conf';
const LOG_SOCKET = '/run/libvirt/virtlogd-sock';
/** libvirtd queries the capabilities of every QEMU on the machine. */
const READY_LIMIT_MS = 60_000;

export async function startLibvirtDaemons(home: Home): Promise<LibvirtDaemons> {
  const children: ChildProcess[] = [];
  const stop = async () => {
    for (const child of children.splice(0).reverse()) await end(child);
  };
  try {
    const daemons: Daemon[] = [
      { name: 'virtlogd', command: ['virtlogd'], socketPath: LOG_SOCKET },
      { name: 'libvirtd', command: await libvirtdCommand(home), socketPath: LIBVIRT_SOCKET },
    ];
    for (const daemon of daemons) {
      if (await isReplying(daemon.socketPath)) continue;
      const logFile = home.file(`${daemon.name}.log`);
      const child = await spawnDaemon(daemon, logFile);
      children.push(child);
      await requireReply({ daemon, child, logFile });
    }
    return { stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Without a service manager, as in a container, control groups are not prepared either, and libvirt
 * would not start a VM. That can only be configured in a file in /etc, so this daemon gets a
 * changed copy through a bind mount in its own mount namespace.
 */
async function libvirtdCommand(home: Home): Promise<string[]> {
  const file = home.file('host/qemu.conf');
  const stock = (await readIfThere(QEMU_CONF)) ?? '';
  await writePrivateFile(file, `${stock}\ncgroup_controllers = []\n`);
  const script = 'mount --bind "$1" "$2" && exec libvirtd';
  return [
    ...['unshare', '--mount', '--propagation', 'slave'],
    ...['sh', '-c', script, 'sh', file, QEMU_CONF],
  ];
}

/** The daemon has its own session, so that a Ctrl-C at the terminal does not reach it. */
async function spawnDaemon({ command }: Daemon, logFile: string): Promise<ChildProcess> {
  const [program = '', ...args] = command;
  const log = await open(logFile, 'a', 0o600);
  try {
    const stdio = ['ignore', log.fd, log.fd] as const;
    const child = spawn(program, args, { cwd: '/', detached: true, stdio: [...stdio] });
    child.on('error', () => {});
    child.unref();
    return child;
  } finally {
    await log.close();
  }
}

type Started = { daemon: Daemon; child: ChildProcess; logFile: string };

async function requireReply({ daemon, child, logFile }: Started): Promise<void> {
  const { name, socketPath } = daemon;
  const outcome = await waitUntil({
    limitMs: READY_LIMIT_MS,
    condition: async () => {
      if (await isReplying(socketPath)) return 'replies';
      return hasEnded(child) ? 'ended' : undefined;
    },
  });
  if (outcome === 'replies') return;
  const output = (await readTail(logFile, {})).trim().split('\n').slice(-10).join('\n');
  const what = outcome === 'ended' ? 'exited at once' : `does not reply at ${socketPath}`;
  throw new StartError(`${name} ${what}. The last lines of ${logFile}:\n${output}`);
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
