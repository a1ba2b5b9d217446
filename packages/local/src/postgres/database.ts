import { setTimeout as delay } from 'node:timers/promises';
import type { Home } from '../home/home.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.ts';

/** A killed server is noticed after at most this time. */
const LOOK_EVERY_MS = 2_000;

export type Database = { url: string; stop(): Promise<void> };

type Options = { home: Home; say: (line: string) => void; fail: (error: unknown) => void };

/** Restarts the embedded server on the same port when it dies, so that clients can reconnect. */
export async function keepDatabase({ home, say, fail }: Options): Promise<Database> {
  const stopping = new AbortController();
  let server: EmbeddedPostgres = await startEmbeddedPostgres({ home: home.directory });

  const watch = async () => {
    while (!stopping.signal.aborted) {
      await delay(LOOK_EVERY_MS, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted || (await server.isRunning())) continue;
      say(`PostgreSQL exited and is being restarted. Its log: ${home.file('postgres.log')}`);
      // The old guard has nothing left to stop, and would block the next start.
      await server.stop();
      server = await startEmbeddedPostgres({ home: home.directory, port: server.port });
      say('PostgreSQL is running again.');
    }
  };
  const watching = watch().catch(fail);

  return {
    url: server.databaseUrl,
    async stop() {
      stopping.abort();
      await watching;
      await server.stop();
    },
  };
}
