import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const IP = 'ip';
const PROGRAM = fileURLToPath(new URL('prober-program.mjs', import.meta.url));
const EVERY_MS = 4;

/** The number of datagrams of each flow, as `sender address port`. */
export type Probed = { sent: Record<string, number>; heard: Record<string, number> };

export type ProberOrder = {
  name: string;
  listen?: readonly number[];
  send?: readonly { to: string; port: number }[];
};

/** Sends and receives in a namespace until it is stopped. Returns once it does. */
export async function startProber(netns: string, { name, listen = [], send = [] }: ProberOrder) {
  const order = JSON.stringify({ name, listen, send, everyMs: EVERY_MS });
  const child = spawn(IP, ['netns', 'exec', netns, process.execPath, PROGRAM, order], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const read = async (): Promise<Probed> => JSON.parse((await lines.next()).value ?? '{}');
  const ask = async (line: string) => {
    child.stdin.write(`${line}\n`);
    return await read();
  };
  await read();
  return {
    report: () => ask('report'),
    /** Stops sending, and continues to receive. */
    stop: () => ask('stop'),
    end: () => child.kill('SIGKILL'),
  };
}

export type Prober = Awaited<ReturnType<typeof startProber>>;
