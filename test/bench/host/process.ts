import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { unitFlags } from '@gantry/testkit/processes/unit-flags';
import { execute } from '@gantry/testkit/real-host/execute';
import type { LibvirtHost } from '@gantry/testkit/real-host/host';
import type { AgentOrder, AgentReply } from './agent.ts';

/**
 * An agent in a host's network with a channel to the benchmark. It ends when the benchmark ends.
 */
export type HostAgent = {
  /** The PCI address of a GPU for VMs. */
  gpu: string;
  order(order: AgentOrder): Promise<AgentReply>;
  stop(): Promise<void>;
};

const root = path.resolve(import.meta.dirname, '../../..');
export const AGENT_FLAGS = unitFlags('gantry-agent');
/** For packages in the bundle that are not ES modules. */
const BANNER = [
  "import { createRequire } from 'node:module';",
  'const require = createRequire(import.meta.url);',
  'const __dirname = import.meta.dirname;',
].join('');
const TICK_MS = 10;

export async function startHostAgent(
  host: LibvirtHost,
  env: Record<string, string>,
): Promise<HostAgent> {
  const script = await bundleAgent(host.directory);
  const child = spawnIn(host, [...AGENT_FLAGS, script], { ...host.environment, ...env });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the agent ended with ${code}`);
  });
  ended.catch(() => {});
  const next = async <T>() => {
    const message = new Promise<T>((resolve) => child.once('message', resolve));
    return await Promise.race([message, ended]);
  };
  const { ready } = await next<{ ready: string }>();
  return {
    gpu: ready,
    async order(order) {
      const replied = next<AgentReply>();
      child.send(order);
      return await replied;
    },
    stop: () => stopProcess(child),
  };
}

/**
 * Bundled like the agent, because starting a program takes longer if the process uses more memory.
 */
async function bundleAgent(directory: string): Promise<string> {
  const script = path.join(directory, 'host-agent.mjs');
  const what = [path.join(import.meta.dirname, 'agent.ts'), '--bundle', '--log-level=error'];
  const how = ['--platform=node', '--format=esm', '--target=node20', `--banner:js=${BANNER}`];
  const esbuild = path.join(root, 'node_modules/.bin/esbuild');
  await execute(esbuild, ...what, ...how, `--outfile=${script}`);
  return script;
}

export function spawnIn(
  host: LibvirtHost,
  args: string[],
  env: Record<string, string>,
): ChildProcess {
  const [program, ...rest] = host.command(process.execPath, ...args);
  return spawn(program, rest, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
}

/** User and system time of a process alone, in milliseconds. */
export function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(') ') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
