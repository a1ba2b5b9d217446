import { setTimeout as delay } from 'node:timers/promises';
import type { Home } from '../home/home.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.ts';

/** How long a killed server goes unnoticed at most. */
const LOOK_EVERY_MS = 2_000;

export type Database = { url: string; stop(): Promise<void> };

type Options = { home: Home; say: (line: string) => void; fail: (error: unknown) => void };

/** The embedded server, started again on the same port when it dies: its clients just reconnect. */
export async function keepDatabase({ home, say, fail }: Options): Promise<Database> {
  const stopping = new AbortController();
  let server: EmbeddedPostgres = await startEmbeddedPostgres({ home: home.directory });

  const watch = async () => {
    while (!stopping.signal.aborted) {
      await delay(LOOK_EVERY_MS, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted || (await server.isRunning())) continue;
      say(`PostgreSQL ended; starting it again. Its log: ${home.file('postgres.log')}`);
      // Its guard has nothing left to stop, and would stand in the way of the next one.
      await server.stop();
      server = await startEmbeddedPostgres({ home: home.directory, port: server.port });
      say('PostgreSQL is back.');
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
