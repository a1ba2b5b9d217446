import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { VolumeName } from '../storage-cluster.ts';
import type { ContractClient } from './contract-cluster.ts';

const PROGRAM = fileURLToPath(new URL('rbd-client.py', import.meta.url));

/** A program that has a volume open through librbd, as QEMU does. It ends with this process. */
export async function startRbdClient(
  cluster: { configFile: string },
  volume: VolumeName & { isReader?: boolean; passphrase?: string; user?: string; key?: string },
): Promise<ContractClient & { read(): Promise<string> }> {
  const { pool, name, isReader = false, user = 'admin', key, passphrase } = volume;
  const child = spawn('/usr/bin/python3', ['-B', '-E', '-s', PROGRAM], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async (request: object): Promise<string> => {
    child.stdin.write(`${JSON.stringify(request)}\n`);
    const { value } = await lines.next();
    const reply = JSON.parse(value ?? '{"error":"The client ended."}') as Record<string, string>;
    if (reply['error'] !== undefined) throw new Error(reply['error']);
    return reply['result'] ?? '';
  };
  const end = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  try {
    const { configFile } = cluster;
    const address = await ask({ configFile, pool, name, isReader, user, key, passphrase });
    return {
      address,
      write: async (text) => {
        await ask({ write: text });
      },
      read: () => ask({ read: true }),
      close: async () => {
        await ask({ close: true });
        await end();
      },
      kill: end,
    };
  } catch (error) {
    await end();
    throw error;
  }
}
