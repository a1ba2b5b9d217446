/**
 * A libvirtd of its own for a test, beside any other on the machine: virtlogd, libvirtd and the QEMUs
 * they start, in a mount namespace with private /etc/libvirt, /var/lib/libvirt, /var/log/libvirt,
 * /var/cache/libvirt and /run/libvirt, and in a PID namespace. Needs root.
 *
 * Nothing stays behind. The first process of the PID namespace waits for the end of a pipe that the
 * test's process holds: when that process calls `stop`, ends or is killed, the pipe closes, the
 * namespace ends with everything in it, and the shell around it removes the directory.
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
  /** Where its state is. Given, it is kept after `stop`, as on a host that is started again. */
  directory?: string;
  /** The network it sees: this process's, one of its own, or one made by `ip netns add NAME`. */
  network?: 'shared' | 'private' | { namespace: string };
  /** Further lines of libvirtd.conf and qemu.conf; a later line overrides an earlier one. */
  libvirtdConf?: readonly string[];
  qemuConf?: readonly string[];
  /** Listens for TLS as well, as libvirtdConf says. */
  listen?: boolean;
};

export type DaemonName = 'libvirtd' | 'virtlogd';

export type PrivateLibvirtd = {
  socketPath: string;
  /** Holds etc, lib, log, cache and run, which the daemons see below /etc/libvirt and so on. */
  directory: string;
  /** As seen from outside, as they were at the start or after the latest `startDaemon`. */
  pids: Record<DaemonName, number>;
  /** Everything that runs in there, QEMUs included; pids as seen from outside. */
  processes: () => Promise<NamespaceProcess[]>;
  /** Starts a daemon again that was killed. Resolves once its socket is served. */
  startDaemon: (name: DaemonName) => Promise<void>;
  /**
   * Kills a daemon and starts it again. Calls wait for each other: two that overlap would start two
   * daemons, of which one ends at once, and `pids` could name that one.
   */
  restartDaemon: (name: DaemonName) => Promise<void>;
  /** Runs a program in there, to the end. Rejects with what it printed when it fails. */
  run: (command: string, ...args: string[]) => Promise<string>;
  /** Ends everything. May be repeated. */
  stop: () => Promise<void>;
};

export async function startPrivateLibvirtd(
  options: PrivateLibvirtdOptions = {},
): Promise<PrivateLibvirtd> {
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'private-libvirtd-')));
  await prepare(directory, options);
  const holder = spawn('sh', holderArgs(directory, options), {
    // Its own session: a Ctrl-C at the test's terminal must not keep it from cleaning up.
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
    'unix_sock_rw_perms = "0700"',
    'auth_unix_rw = "none"',
    'auth_unix_ro = "none"',
    `host_uuid = "${crypto.randomUUID()}"`,
    'log_outputs = "2:file:/var/log/libvirt/libvirtd.log"',
    ...libvirtdConf,
  ]);
  await write('qemu.conf', [
    'user = "root"',
    'group = "root"',
    'security_driver = "none"',
    'dynamic_ownership = 0',
    'remember_owner = 0',
    'cgroup_controllers = []',
    'stdio_handler = "logd"',
    ...qemuConf,
  ]);
}

/** The outer shell stays in this process's namespaces and removes what the inner one leaves. */
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
  if (!stdout || !stderr) throw new Error('BUG: spawned without pipes');
  const complaint = text(stderr);
  const ready = new Promise<void>((resolve, reject) => {
    stdout.on('data', (chunk) => String(chunk).includes(READY) && resolve());
    holder.once('error', reject);
    holder.once('exit', () => {
      complaint.then((said) => reject(new Error(`libvirtd did not start: ${said}`)), reject);
    });
  });
  await ready;
  // From here on only `stop` waits for it, so an idle test process may end.
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
  /** Not one it has forked, which bears its name until it runs something else. */
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
