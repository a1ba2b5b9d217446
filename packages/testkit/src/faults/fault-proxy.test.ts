import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';

let target: Server;
let proxy: FaultProxy;
let served: Socket[];
const clients: Socket[] = [];

/** The target returns each byte that it gets. */
beforeEach(async () => {
  served = [];
  target = createServer((socket) => {
    served.push(socket);
    socket.on('error', () => {});
    socket.pipe(socket);
  });
  target.listen(0, '127.0.0.1');
  await once(target, 'listening');
  proxy = await startFaultProxy((target.address() as AddressInfo).port);
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await proxy.stop();
  for (const socket of served) socket.destroy();
  target.close();
});

function open() {
  const socket = connect({ port: proxy.port, host: '127.0.0.1' });
  clients.push(socket);
  const seen = { text: '', error: '', ended: false };
  socket.on('data', (chunk) => {
    seen.text += chunk;
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    seen.error = error.code ?? '';
  });
  socket.on('end', () => {
    seen.ended = true;
  });
  return { socket, seen };
}

async function openAndTalk() {
  const client = open();
  client.socket.write('a');
  await expect.poll(() => client.seen.text).toBe('a');
  return client;
}

/** A round trip through another proxy to the same target: whatever could arrive by now, has. */
async function othersTalk(): Promise<void> {
  const other = await startFaultProxy((target.address() as AddressInfo).port);
  const socket = connect({ port: other.port, host: '127.0.0.1' });
  socket.write('x');
  await once(socket, 'data');
  socket.destroy();
  await other.stop();
}

describe('a proxy between two processes', () => {
  it('passes bytes both ways, and the end of a stream', async () => {
    const { socket, seen } = await openAndTalk();
    socket.end('b');
    await expect.poll(() => seen.ended).toBe(true);
    expect(seen.text).toBe('ab');
  });

  it('passes more than the buffers of a receiver hold', async () => {
    const { socket, seen } = open();
    socket.end('x'.repeat(5_000_000));
    await expect.poll(() => seen.text.length).toBe(5_000_000);
  });

  it('resets open and new connections while it is cut', async () => {
    const { seen } = await openAndTalk();
    proxy.set({ is: 'cut' });
    await expect.poll(() => seen.error).toBe('ECONNRESET');
    const late = open();
    await expect.poll(() => late.socket.destroyed).toBe(true);
    proxy.set({ is: 'pass' });
    await openAndTalk();
  });

  it.each(['to-target', 'from-target', 'both'] as const)(
    'delivers late, and loses nothing, what falls into a hole: %s',
    async (direction) => {
      const { socket, seen } = await openAndTalk();
      let arrived = 0;
      served[0]?.on('data', (chunk) => {
        arrived += chunk.length;
      });
      proxy.set({ is: 'hole', direction });
      socket.write('b');
      if (direction === 'from-target') await expect.poll(() => arrived).toBe(1);
      else await othersTalk();
      expect(arrived).toBe(direction === 'from-target' ? 1 : 0);
      expect(seen).toEqual({ text: 'a', error: '', ended: false });
      proxy.set({ is: 'pass' });
      await expect.poll(() => seen.text).toBe('ab');
    },
  );

  it('keeps the side of the client open while the target has forgotten it, and resets it then', async () => {
    const { socket, seen } = await openAndTalk();
    proxy.set({ is: 'half-open' });
    await expect.poll(() => served[0]?.destroyed).toBe(true);
    socket.write('b');
    await othersTalk();
    expect(seen).toEqual({ text: 'a', error: '', ended: false });
    proxy.set({ is: 'pass' });
    await expect.poll(() => seen.error).toBe('ECONNRESET');
  });

  it('delays and throttles while it is slow', async () => {
    const { socket, seen } = await openAndTalk();
    proxy.set({ is: 'slow', delayMs: 20, bytesPerS: 100_000 });
    const startedMs = performance.now();
    socket.write('x'.repeat(10_000));
    await expect.poll(() => seen.text.length, { interval: 5 }).toBe(10_001);
    // 10,000 bytes at 100,000 a second are 100 ms, and the delay comes on top.
    expect(performance.now() - startedMs).toBeGreaterThan(110);
  });

  it('sends new connections to another target', async () => {
    const { seen } = await openAndTalk();
    const other = createServer((socket) => socket.end('other'));
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    proxy.retarget((other.address() as AddressInfo).port);
    await expect.poll(() => seen.error).toBe('ECONNRESET');
    const next = open();
    await expect.poll(() => next.seen.text).toBe('other');
    other.close();
  });
});
