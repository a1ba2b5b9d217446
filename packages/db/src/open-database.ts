import { type ConnectOptions, connect, type Sql } from './connect.ts';
import { type DatabaseWatch, watchDatabase } from './database-watch.ts';
import { Sockets } from './sockets.ts';

export type Database = {
  sql: Sql;
  watch: DatabaseWatch;
  /** Opens one more pool, for statements that have another limit. It ends with the database. */
  openPool(options: Omit<ConnectOptions, 'url' | 'sockets'>): Sql;
  /** The connections of all pools, and how many of them wait for a reply. */
  connections(): { open: number; busy: number };
  end(): Promise<void>;
};

type OpenOptions = {
  url: string;
  name: string;
  maxConnections?: number;
  plansOnce?: boolean;
  log: Parameters<typeof watchDatabase>[0]['log'];
  /** The clock of the process. Tests give another one. */
  processNowMs?: () => number;
  /** Called with the time that the database took to reply to a probe. */
  onProbe?: (seconds: number) => void;
};

/** How long statements may run on when the process stops. */
const END_LIMIT_S = 5;

/** Opens the pool of a process and watches it. The watch has one connection more. */
export async function openDatabase({
  url,
  name,
  maxConnections,
  plansOnce = false,
  ...options
}: OpenOptions): Promise<Database> {
  const sockets = new Sockets();
  const pools: Sql[] = [];
  const openPool: Database['openPool'] = (pool) => {
    const opened = connect({ url, sockets, ...pool });
    pools.push(opened);
    return opened;
  };
  const sql = openPool({
    ...{ name, plansOnce },
    ...(maxConnections === undefined ? {} : { maxConnections }),
  });
  const probe = connect({ url, name: `${name}-watch`, sockets, maxConnections: 1 });
  const watch = await watchDatabase({ probe, sockets, ...options });
  return {
    sql,
    watch,
    openPool,
    connections: () => sockets.count(),
    async end() {
      // The watch goes on until the last statement has ended, in case the database stops to reply now.
      await Promise.all(pools.map((pool) => pool.end({ timeout: END_LIMIT_S })));
      watch.stop();
      await probe.end({ timeout: 1 });
    },
  };
}
