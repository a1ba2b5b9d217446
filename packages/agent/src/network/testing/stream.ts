import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const IP = 'ip';
const PROGRAM = fileURLToPath(new URL('stream-program.mjs', import.meta.url));

/** One end of a connection, which sends continuously. */
export type StreamEnd = { readonly receivedBytes: number; end(): void };

/** Returns once it listens on a port such as `22`, or has started to connect to `10.0.0.5:22`. */
export async function openStream(netns: string, where: string): Promise<StreamEnd> {
  const child = spawn(IP, ['netns', 'exec', netns, process.execPath, PROGRAM, where], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let receivedBytes = 0;
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => {
    receivedBytes = Number(line);
  });
  await once(lines, 'line');
  return {
    get receivedBytes() {
      return receivedBytes;
    },
    end: () => child.kill('SIGKILL'),
  };
}
