import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('transfer-program.mjs', import.meta.url));

type End = { netns: string };

/**
 * Sends bytes over one TCP connection. Returns how long they took to arrive, from the first to the
 * last, as the receiver measures it.
 */
export async function transfer(order: {
  from: End;
  to: End;
  address: string;
  port: number;
  bytes: number;
}): Promise<number> {
  const { from, to, address, port, bytes } = order;
  const start = (netns: string, ...args: string[]) =>
    spawn('ip', ['netns', 'exec', netns, process.execPath, PROGRAM, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  const receiver = start(to.netns, `${port}`);
  const lines = createInterface({ input: receiver.stdout })[Symbol.asyncIterator]();
  try {
    await lines.next();
    const sender = start(from.netns, `${port}`, address, `${bytes}`);
    const [code] = await once(sender, 'close');
    if (code !== 0) throw new Error(`the sender ended with ${code}`);
    const { received, ms } = JSON.parse((await lines.next()).value ?? '{}');
    if (received !== bytes) throw new Error(`${received} of ${bytes} bytes arrived`);
    return ms;
  } finally {
    receiver.kill('SIGKILL');
  }
}
