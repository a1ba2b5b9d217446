import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';

const RELAY = fileURLToPath(new URL('./relay.mjs', import.meta.url));

/**
 * Makes a port of this machine's loopback available at the same port of a namespace's loopback. An
 * agent in the namespace can attach to a scheduler outside, and no packet leaves either.
 */
export async function shareLoopback(options: {
  namespace: string;
  port: number;
  /** The directory for the Unix socket between them. */
  socket: string;
}): Promise<() => Promise<void>> {
  const { namespace, port, socket } = options;
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const end of [near, far]) {
      open.add(end);
      end.on('close', () => open.delete(end));
    }
    near.pipe(far).pipe(near);
    near.on('error', () => far.destroy());
    far.on('error', () => near.destroy());
  });
  server.listen(socket);
  await once(server, 'listening');
  const args = ['netns', 'exec', namespace, process.execPath, RELAY, `${port}`, socket];
  const relay = spawn('ip', args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(relay, 'exit');
  await Promise.race([
    once(relay.stdout, 'data'),
    ended.then(() => Promise.reject(new Error(`port ${port} is taken in ${namespace}`))),
  ]);
  return async () => {
    relay.stdin.end();
    await ended;
    for (const end of open) end.destroy();
    server.close();
  };
}
