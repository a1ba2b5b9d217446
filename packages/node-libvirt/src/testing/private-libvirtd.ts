/**
 * A private libvirtd for a test, beside any other on the machine: virtlogd, libvirtd and the QEMU
 * processes that they start, in a mount namespace with private /etc/libvirt, /var/lib/libvirt,
 * /var/log/libvirt, /var/cache/libvirt and /run/libvirt, and in a PID namespace. Needs root.
 *
 * Nothing stays behind. The first process of the PID namespace waits until a pipe closes that the
 * test's process holds open. When that process calls `stop`, exits or is killed, the namespace ends
 * with all its processes, and the outer shell removes the directory.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import {
  findInit,
  listNamespace,
  type NamespaceProcess,
  readParent,
  untilEnded,
} from './pid-namespace.ts';

const SCRIPT = fileURLToPath(new URL('./private-libvirtd.sh', import.meta.url));
const READY = 'ready';

export type PrivateLibvirtdOptions = {
  /** The directory of its state. If given, it is kept after `stop`, for another start. */
  directory?: string;
  /** Its network: that of this process, a new one, or one made by `ip netns add NAME`. */
  network?: 'shared' | 'private' | { namespace: string };
  /** Lines for libvirtd.conf and qemu.conf, which replace the usual ones: libvirt uses the first. */
  libvirtdConf?: readonly string[];
  qemuConf?: readonly string[];
  /** Whether it also listens for TLS, configured in libvirtdConf. */
  listen?: boolean;
};

export type DaemonName = 'libvirtd' | 'virtlogd';

export type PrivateLibvirtd = {
  socketPath: string;
  /** Contains etc, lib, log, cache and run, which the daemons see as /etc/libvirt and so on. */
  directory: string;
  /** Process ids in this namespace, from the start or from the last `startDaemon`. */
  pids: Record<DaemonName, number>;
  /** All processes in the namespace, including QEMU. The pids are those of this namespace. */
  processes: () => Promise<NamespaceProcess[]>;
  /** Restarts a killed daemon. Resolves when it listens on its socket. */
  startDaemon: (name: DaemonName) => Promise<void>;
  /**
   * Kills a daemon and starts it again. Calls wait for each other: two that overlap would start two
   * daemons, of which one ends at once, and `pids` could name that one.
   */
  restartDaemon: (name: DaemonName) => Promise<void>;
  /** Runs a program in the namespace. If it fails, rejects with its output. */
  run: (command: string, ...args: string[]) => Promise<string>;
  /** Stops everything. Idempotent. */
  stop: () => Promise<void>;
};

export async function startPrivateLibvirtd(
  options: PrivateLibvirtdOptions = {},
): Promise<PrivateLibvirtd> {
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'private-libvirtd-')));
  await prepare(directory, options);
  const holder = spawn('sh', holderArgs(directory, options), {
    // It has its own session, so that a Ctrl-C at the terminal does not prevent the cleanup.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => holder.once('exit', () => resolve()));
  const stop = async () => {
    holder.ref();
    holder.stdin?.destroy();
    await ended;
  };
  try {
    await awaitReady(holder);
    return await describe({ directory, holder, stop });
  } catch (error) {
    await stop();
    throw error;
  }
}

async function prepare(directory: string, options: PrivateLibvirtdOptions): Promise<void> {
  for (const name of ['etc/qemu', 'lib', 'log', 'cache', 'run']) {
    await mkdir(join(directory, name), { recursive: true });
  }
  const { libvirtdConf = [], qemuConf = [] } = options;
  const write = (name: string, lines: readonly string[]) =>
    writeFile(join(directory, 'etc', name), `${lines.join('\n')}\n`);
  await write('libvirtd.conf', [
    ...libvirtdConf,
    'unix_sock_rw_perms = "0700"',
    'auth_unix_rw = "none"',
    'auth_unix_ro = "none"',
    `host_uuid = "${crypto.randomUUID()}"`,
    'log_outputs = "2:file:/var/log/libvirt/libvirtd.log"',
  ]);
  await write('qemu.conf', [
    ...qemuConf,
    'user = "root"',
    'group = "root"',
    'security_driver = "none"',
    'dynamic_ownership = 0',
    'remember_owner = 0',
    'cgroup_controllers = []',
    'stdio_handler = "logd"',
  ]);
}

/** The outer shell stays in this process's namespaces and removes the files of the inner one. */
function holderArgs(directory: string, options: PrivateLibvirtdOptions): string[] {
  const { network = 'shared', listen = false } = options;
  const enter =
    typeof network === 'object' ? ['nsenter', `--net=/run/netns/${network.namespace}`] : [];
  const unshare = ['unshare', '--mount', '--propagation', 'private', '--pid', '--mount-proc'];
  if (network === 'private') unshare.push('--net');
  const inner = ['--kill-child', 'bash', SCRIPT, directory, network === 'shared' ? '' : 'network'];
  const command = [...enter, ...unshare, ...inner, ...(listen ? ['--listen'] : [])];
  const remove = options.directory === undefined ? 'rm -rf "$directory"' : ':';
  return ['-c', `directory=$1; shift; "$@"; ${remove}`, 'sh', directory, ...command];
}

async function awaitReady(holder: ChildProcess): Promise<void> {
  const { stdout, stderr } = holder;
  if (!stdout || !stderr) throw new Error('BUG: the process was spawned without pipes');
  const complaint = text(stderr);
  const ready = new Promise<void>((resolve, reject) => {
    stdout.on('data', (chunk) => String(chunk).includes(READY) && resolve());
    holder.once('error', reject);
    holder.once('exit', () => {
      complaint.then((said) => reject(new Error(`libvirtd did not start: ${said}`)), reject);
    });
  });
  await ready;
  // From here on only `stop` waits for it, so an idle test process may exit.
  holder.unref();
  for (const pipe of [holder.stdin, stdout, stderr]) (pipe as { unref?: () => void })?.unref?.();
}

async function describe(running: {
  directory: string;
  holder: ChildProcess;
  stop: () => Promise<void>;
}): Promise<PrivateLibvirtd> {
  const { directory, holder, stop } = running;
  const init = await findInit(holder.pid ?? 0);
  const processes = () => listNamespace(init);
  const run = (command: string, ...args: string[]) =>
    runIn(['--target', String(init), '--mount', '--pid', '--net'], [command, ...args]);
  /** Excludes forked children, which have the same name until they run another program. */
  const pidOf = async (name: DaemonName): Promise<number> => {
    const named = (await processes()).filter(({ command }) => command[0]?.endsWith(name));
    const own = new Set(named.map(({ pid }) => pid));
    for (const { pid } of named) if (!own.has(await readParent(pid))) return pid;
    throw new Error(`${name} is not running`);
  };
  const pids = { libvirtd: await pidOf('libvirtd'), virtlogd: await pidOf('virtlogd') };
  const startDaemon = async (name: DaemonName) => {
    await untilEnded(pids[name]);
    await run(name, '--daemon', '--pid-file', `/run/libvirt/${name}.pid`);
    pids[name] = await pidOf(name);
  };
  let lastRestart: Promise<void> = Promise.resolve();
  return {
    socketPath: join(directory, 'run', 'libvirt-sock'),
    directory,
    pids,
    processes,
    startDaemon,
    restartDaemon: (name) => {
      const restart = lastRestart.then(async () => {
        process.kill(pids[name], 'SIGKILL');
        await startDaemon(name);
      });
      lastRestart = restart.catch(() => undefined);
      return restart;
    },
    run,
    stop,
  };
}

async function runIn(namespaces: string[], command: string[]): Promise<string> {
  const child = spawn('nsenter', [...namespaces, ...command], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  const [output, complaint, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    exited,
  ]);
  if (code !== 0) throw new Error(`${command.join(' ')}: ${complaint || output}`);
  return output;
}
