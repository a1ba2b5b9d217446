import type { Log } from '@gantry/daemon/log';
import type { LoopOptions } from '@gantry/daemon/loop';
import type { Sql } from '@gantry/db/connect';
import type { ClusterOf } from './clusters.ts';
import { fenceHosts } from './fence-hosts.ts';
import { fenceLostHosts, type LostHostPolicy } from './fence-lost-hosts.ts';
import { liftFences, renewFences } from './lift-fences.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

type FencingContext = {
  sql: Sql;
  log: Log;
  clusters: ClusterOf;
  policy: LostHostPolicy;
  /** For how long the database has replied to this process without an interruption. */
  steadyMs: () => number;
  /** The locations whose leases this scheduler has: it takes care of the fences in their storage clusters. */
  locations: () => readonly string[];
};

export function fencingLoops(
  context: FencingContext,
): Pick<LoopOptions, 'name' | 'everyMs' | 'body'>[] {
  const { sql, log, clusters, policy } = context;
  return [
    {
      name: 'fence',
      everyMs: SECOND_MS,
      body: async () => {
        const locations = context.locations();
        await fenceLostHosts({ sql, log, policy, locations, steadyMs: context.steadyMs() });
        await fenceHosts({ sql, log, clusters, locations });
        await liftFences({ sql, log, clusters, locations });
      },
    },
    {
      name: 'renew-fences',
      everyMs: MINUTE_MS,
      body: () => renewFences({ sql, log, clusters, locations: context.locations() }),
    },
  ];
}
