import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startEmbeddedPostgres } from '@gantry/local/postgres/embedded-postgres';
import { removeHome } from './remove-home.ts';

/** A PostgreSQL server that a test may stop and start. Its port stays the same. */
export type OwnServer = {
  url: string;
  /** Of the process that accepts connections. */
  pid(): number;
  stop(): Promise<void>;
  /** Kills it, as a failure of the machine would. `start` recovers what was committed. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Stops the server and removes its files. */
  remove(): Promise<void>;
};

export async function startOwnServer(): Promise<OwnServer> {
  const home = await mkdtemp(path.join(tmpdir(), 'gantry-server-'));
  let server = await startEmbeddedPostgres({ home });
  const { port, databaseUrl } = server;
  return {
    url: databaseUrl,
    pid: () => server.pid,
    stop: () => server.stop(),
    async kill() {
      process.kill(server.pid, 'SIGKILL');
      // Nothing is left to stop, except what guards the server.
      await server.stop();
    },
    async start() {
      server = await startEmbeddedPostgres({ home, port });
    },
    remove: () => removeHome(home),
  };
}
