import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net';

/** A proxy to a database that can swallow all packets: nothing arrives, and no connection ends. */
export type BlackHole = {
  url: string;
  swallow(): void;
  /** New connections pass again. The old ones stay silent for ever. */
  release(): void;
  close(): void;
};

export async function openBlackHole(databaseUrl: string): Promise<BlackHole> {
  const url = new URL(databaseUrl);
  const { hostname: host, port } = url;
  const sockets = new Set<Socket>();
  let era = 0;
  let swallows = false;
  const server = createServer((near) => {
    const far = dial({ host, port: Number(port) });
    const openedIn = era;
    const passes = () => !swallows && era === openedIn;
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => passes() && to.write(bytes));
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        if (passes()) to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    swallow() {
      swallows = true;
    },
    release() {
      swallows = false;
      era += 1;
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
