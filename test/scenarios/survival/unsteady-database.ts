import { createServer, connect as dial, type Socket } from 'node:net';

/** A proxy to a database that can stall, as if a process were paused, and break, as if it died. */
export type UnsteadyDatabase = {
  url: string;
  /** Nothing passes until `resume`; no connection ends. */
  pause(): void;
  resume(): void;
  /** Every connection ends immediately; new ones are accepted. */
  cut(): void;
  close(): void;
};

export async function openUnsteadyDatabase(databaseUrl: string): Promise<UnsteadyDatabase> {
  const url = new URL(databaseUrl);
  const { hostname: host } = url;
  const port = Number(url.port);
  const sockets = new Set<Socket>();
  let paused = false;

  const server = createServer((near) => {
    const far = dial({ host, port });
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('data', (data) => other.write(data));
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      if (paused) socket.pause();
    }
  });
  const address = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const bound = server.address();
      resolve(typeof bound === 'object' && bound ? bound.port : 0);
    });
  });
  url.host = `127.0.0.1:${address}`;

  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: url.href,
    pause() {
      paused = true;
      for (const socket of sockets) socket.pause();
    },
    resume() {
      paused = false;
      for (const socket of sockets) socket.resume();
    },
    cut,
    close() {
      server.close();
      cut();
    },
  };
}
