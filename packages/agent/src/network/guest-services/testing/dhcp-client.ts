import { execFile, spawn } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const exec = promisify(execFile);

/** What busybox's client passes to its script for a lease. */
const SCRIPT = `#!/bin/sh
[ "$1" = deconfig ] && exit 0
echo "event=$1"
for name in ip mask router dns hostname mtu lease serverid staticroutes; do
  eval "echo $name=\\$$name"
done
`;
const PATIENCE_MS = 20_000;
const ASKED = ['router', 'dns', 'hostname', 'mtu', 'lease', 'staticroutes'];

/** Runs a DHCP client in a guest's namespace. Returns null without a reply. */
export function askForLease(netns: string, ...options: string[]) {
  return withScript(async (script) => {
    try {
      const { stdout } = await exec('ip', clientOf(netns, script, '-n', '-q', ...options));
      const lines = stdout.split('\n').filter((line) => line.includes('='));
      return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)));
    } catch (error) {
      // The client's own error message.
      if (error instanceof Error && /no lease, failing/.test(error.message)) return null;
      throw error;
    }
  });
}

/** Returns what the client passes to its script when it gets a lease and renews it at once. */
export function renewLease(netns: string): Promise<string[]> {
  return withScript(async (script) => {
    const child = spawn('ip', clientOf(netns, script), { stdio: ['ignore', 'pipe', 'ignore'] });
    const said: string[] = [];
    const ended = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
    for await (const line of createInterface({ input: child.stdout })) {
      const [, event] = /^event=(.*)$/.exec(line) ?? [];
      if (event === undefined) continue;
      said.push(event);
      child.kill(said.length === 1 ? 'SIGUSR1' : 'SIGKILL');
    }
    clearTimeout(ended);
    return said;
  });
}

function clientOf(netns: string, script: string, ...options: string[]): string[] {
  const client = ['udhcpc', '-i', 'eth0', '-f', '-t', '2', '-T', '1', '-s', script];
  const asked = ASKED.flatMap((name) => ['-O', name]);
  return ['netns', 'exec', netns, 'busybox', ...client, ...asked, ...options];
}

async function withScript<T>(work: (script: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-dhcp-'));
  try {
    const script = join(folder, 'script');
    await writeFile(script, SCRIPT);
    await chmod(script, 0o755);
    return await work(script);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
