import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { buffer } from 'node:stream/consumers';

/** Captures all packets on an interface with tcpdump; the filter is in its language. */
export type Capture = {
  /** Stops the capture and returns every packet as text. */
  end(): Promise<Buffer>;
};

/** Returns once the capture has started. */
export async function capture(netns: string, link: string, filter = ''): Promise<Capture> {
  const options = ['--immediate-mode', '-Z', 'root', '-s', '0', '-U', '-w', '-'];
  const child = spawn('ip', ['netns', 'exec', netns, 'tcpdump', '-i', link, ...options, filter]);
  const packets = buffer(child.stdout);
  const said: string[] = [];
  for await (const line of createInterface({ input: child.stderr })) {
    said.push(line);
    if (!line.includes('listening on')) continue;
    const ended = once(child, 'close');
    child.stderr.resume();
    return {
      async end() {
        child.kill('SIGINT');
        await ended;
        return await packets;
      },
    };
  }
  throw new Error(`tcpdump on ${link} ended: ${said.join('; ')}`);
}
