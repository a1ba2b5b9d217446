import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { StartError } from '../base/start-error.ts';
import { waitUntil } from '../base/wait-until.ts';
import { type Home, readIfThere, writePrivateFile } from '../home/home.ts';
import { readTail } from '../processes/log-file.ts';
import { isAnswering, LIBVIRT_SOCKET } from './look-at-machine.ts';

/** Started here because nobody else did. Killed hard, the launcher leaves them running. */
export type LibvirtDaemons = { stop(): Promise<void> };

type Daemon = { name: string; command: string[]; socketPath: string };

const QEMU_CONF = '/etc/libvirt/qemu.conf';
const LOG_SOCKET = '/run/libvirt/virtlogd-sock';
/** It asks every QEMU on the machine what it can do. */
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
      if (await isAnswering(daemon.socketPath)) continue;
      const logFile = home.file(`${daemon.name}.log`);
      const child = await spawnDaemon(daemon, logFile);
      children.push(child);
      await requireAnswer({ daemon, child, logFile });
    }
    return { stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Where nobody looks after daemons, as in a container, nobody has prepared control groups either, and
 * libvirt would start no VM. Its one place to say so is a file in /etc, which only this daemon sees
 * changed.
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

/** In a session of its own: a Ctrl-C at the terminal is not meant for it. */
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

async function requireAnswer({ daemon, child, logFile }: Started): Promise<void> {
  const { name, socketPath } = daemon;
  const outcome = await waitUntil({
    limitMs: READY_LIMIT_MS,
    condition: async () => {
      if (await isAnswering(socketPath)) return 'answers';
      return hasEnded(child) ? 'ended' : undefined;
    },
  });
  if (outcome === 'answers') return;
  const said = (await readTail(logFile, {})).trim().split('\n').slice(-10).join('\n');
  const what = outcome === 'ended' ? 'ended at once' : `does not answer at ${socketPath}`;
  throw new StartError(`${name} ${what}. Its last lines, from ${logFile}:\n${said}`);
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
