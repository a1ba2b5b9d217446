import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitUntil } from '@gantry/local/base/wait-until';

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const runs = here('../../../.gantry/install/runs');
const CGROUP = /^gantry-install-(\d+)$/;
/** Installing QEMU and libvirt on a busy machine takes minutes. */
const COMMAND_LIMIT_MS = 600_000;
const BOOT_LIMIT_MS = 120_000;
/** Commands in the machine know nothing of this computer. */
const ENVIRONMENT = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  ...{ HOME: '/root', LC_ALL: 'C.UTF-8' },
};

/** Debian, booted by its own systemd in a container with its own network. */
export type Machine = {
  /** Runs a command of the shell in the machine and returns its output. Throws if it fails. */
  run(command: string, input?: string): Promise<string>;
  /** Runs a command that may fail. */
  attempt(command: string, input?: string): Promise<{ code: number; output: string }>;
  /** Makes a port of the machine's loopback available here, and returns its URL. */
  reach(port: number): Promise<string>;
  /** Everything that was written since the machine was first booted, as paths from its root. */
  changedFiles(): Promise<string[]>;
  stop(): Promise<void>;
};

/** `shown`: folders and files of this computer that the machine can read, by their path there. */
export async function bootMachine(base: string, shown: Record<string, string>): Promise<Machine> {
  await removeAbandoned();
  const folder = path.join(runs, `${process.pid}`);
  await mkdir(folder, { recursive: true });
  const binds = Object.entries(shown).map(([there, source]) => `--bind-ro=${source}:${there}`);
  const cgroup = `gantry-install-${process.pid}`;
  const script = [here('machine.sh'), folder, base, cgroup, ...binds];
  const namespaces = ['--mount', '--propagation', 'private', '--pid', '--fork', '--mount-proc'];
  // If this process is killed, so is the first process of the namespace, and with it all others.
  const child = spawn(
    'setpriv',
    ['--pdeathsig', 'KILL', 'unshare', ...namespaces, '--kill-child=KILL', 'sh', ...script],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      said += chunk;
    });
  const ended = once(child, 'exit');
  const servers: Server[] = [];
  const relays: ChildProcess[] = [];
  const stop = async () => {
    for (const server of servers) server.close();
    for (const relay of relays) relay.stdin?.end();
    child.kill('SIGKILL');
    await ended;
    await removeCgroup(cgroup);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const leader = await Promise.race([
      untilBooted(child.pid ?? 0),
      ended.then(() => Promise.reject(new Error(`the machine ended:\n${said}`))),
    ]);
    const enter = ['--target', `${leader}`, '--all', '--root', '--'];
    const attempt: Machine['attempt'] = (command, input) =>
      execute('nsenter', [...enter, 'sh', '-c', `cd /; exec 2>&1\n${command}`], input);
    return {
      attempt,
      stop,
      async run(command, input) {
        const { code, output } = await attempt(command, input);
        if (code !== 0) throw new Error(`${command}\nended with ${code}:\n${output.slice(-6_000)}`);
        return output;
      },
      async reach(port) {
        const socket = path.join(folder, `port-${port}`);
        const args = ['--target', `${leader}`, '--net', process.execPath, here('reach.mjs')];
        const relay = spawn('nsenter', [...args, socket, `${port}`], {
          stdio: ['pipe', 'pipe', 'inherit'],
        });
        relays.push(relay);
        await once(relay.stdout, 'data');
        const server = createServer((near) => {
          const far = connect(socket);
          near.pipe(far).pipe(near);
          near.on('error', () => far.destroy());
          far.on('error', () => near.destroy());
        });
        servers.push(server);
        server.listen(0, '127.0.0.1');
        await once(server, 'listening');
        const address = server.address();
        return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
      },
      async changedFiles() {
        const found = await readdir(path.join(folder, 'upper'), {
          recursive: true,
          withFileTypes: true,
        });
        // A device stands for a file that was removed.
        const files = found.filter((entry) => !entry.isCharacterDevice());
        return files.map(
          (entry) =>
            `/${path.relative(path.join(folder, 'upper'), path.join(entry.parentPath, entry.name))}`,
        );
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Returns the process that is the machine's systemd, as soon as everything has started. */
async function untilBooted(pid: number): Promise<number> {
  let seen = 'no process';
  const condition = async () => {
    const leader = await findLeader(pid);
    if (leader === undefined) return undefined;
    const enter = ['--target', `${leader}`, '--all', '--root', '--'];
    seen = (await execute('nsenter', [...enter, 'systemctl', 'is-system-running'])).output.trim();
    return /^(running|degraded)$/.test(seen) ? leader : undefined;
  };
  const leader = await waitUntil({ limitMs: BOOT_LIMIT_MS, condition });
  if (leader === undefined) throw new Error(`the machine has not booted: ${seen}`);
  return leader;
}

/** The first process of the innermost namespace: it has the number 1 there. */
async function findLeader(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const numbers = /^NSpid:\s+(.*)$/m.exec(status)?.[1]?.split(/\s+/) ?? [];
  if (numbers.length >= 3 && numbers.at(-1) === '1') return pid;
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  for (const child of children.split(' ').filter(Boolean)) {
    const found = await findLeader(Number(child));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Removes what runs have left that were killed. */
async function removeAbandoned(): Promise<void> {
  await mkdir(runs, { recursive: true });
  for (const name of await readdir(runs)) {
    if (existsSync(`/proc/${name}`)) continue;
    await removeCgroup(`gantry-install-${name}`);
    await rm(path.join(runs, name), { recursive: true, force: true });
  }
}

/** systemd in the machine has made groups inside. All of them are empty now. */
async function removeCgroup(name: string): Promise<void> {
  if (!CGROUP.test(name)) throw new Error(`BUG: ${name} is no cgroup of a machine`);
  const script = `mount -t cgroup2 cgroup2 /mnt && [ ! -d /mnt/${name} ] || find /mnt/${name} -depth -type d -exec rmdir {} +`;
  const condition = async () => {
    const { code } = await execute('unshare', ['--mount', 'sh', '-c', script]);
    return code === 0 ? true : undefined;
  };
  const isGone = await waitUntil({ limitMs: BOOT_LIMIT_MS, condition });
  if (!isGone) throw new Error(`the cgroup ${name} is still in use`);
}

function execute(program: string, args: string[], input = '') {
  return new Promise<{ code: number; output: string }>((resolve) => {
    const options = { timeout: COMMAND_LIMIT_MS, maxBuffer: 64 * 1024 * 1024, env: ENVIRONMENT };
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code ?? 1);
      resolve({ code, output: `${stdout}${stderr}` });
    });
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}
