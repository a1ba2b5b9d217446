import type { Log } from '@gantry/daemon/log';
import type { Sql } from '@gantry/db/connect';
import { listRevokedSerials } from '@gantry/db/queries/hosts/host-certificates';
import { recordHeartbeat } from '@gantry/db/queries/hosts/host-liveness';
import { terminateIdleTransactions } from '@gantry/db/queries/maintenance/idle-transactions';
import type { AttachedHosts } from './attached/attached-hosts.ts';
import { cleanUp } from './clean-up.ts';
import { closeUsage } from './close-usage.ts';
import type { FleetServer } from './fleet/fleet-server.ts';
import { abortLostStreams } from './liveness/abort-lost-streams.ts';
import { fenceHosts } from './liveness/fence-hosts.ts';
import { markUnreachable } from './liveness/mark-unreachable.ts';
import { endOverdueOperations } from './settle/end-overdue.ts';

/** A body that runs again and again. Every scheduler may run all of them at the same time. */
export type LoopEntry = { name: string; everyMs: number; body: () => Promise<void> };

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HEARTBEAT_MS = SECOND_MS;
/** A scheduler that misses this many heartbeats is considered dead. */
const DEAD_AFTER_HEARTBEATS = 5;
/** Longer than a healthy process ever pauses in a transaction, shorter than clients wait. */
const IDLE_TRANSACTION_MS = 6_000;

type LoopContext = {
  sql: Sql;
  log: Log;
  schedulerId: string;
  /** Where api processes reach this scheduler. */
  address: string;
  hosts: AttachedHosts;
  server: FleetServer;
  pollMs: number;
  unreachableAfterMs: number;
};

/**
 * The loops of a scheduler, besides those that react to events: place/start-placing.ts,
 * deliver/start-delivering.ts, settle/start-settling.ts and settle/settle-without-host.ts.
 */
export function schedulerLoops(context: LoopContext): LoopEntry[] {
  const { sql, log, hosts, server, schedulerId, address, unreachableAfterMs } = context;
  const silence = {
    schedulerMs: DEAD_AFTER_HEARTBEATS * HEARTBEAT_MS,
    hostMs: unreachableAfterMs,
  };
  return [
    {
      name: 'heartbeat',
      everyMs: HEARTBEAT_MS,
      body: async () => {
        const wasConsideredDead = await recordHeartbeat(sql, { schedulerId, address });
        // Another scheduler has closed the streams in the database: the hosts must attach again.
        if (wasConsideredDead)
          for (const { stream } of hosts.values()) stream.abort('attach again');
      },
    },
    {
      name: 'revocations',
      everyMs: 2 * context.pollMs,
      body: async () => server.endRevoked(await listRevokedSerials(sql)),
    },
    {
      name: 'lost-streams',
      everyMs: 5 * SECOND_MS,
      body: () => abortLostStreams({ sql, hosts }),
    },
    {
      name: 'liveness',
      everyMs: Math.min(SECOND_MS, unreachableAfterMs / 4),
      body: async () => {
        await markUnreachable({ sql, log, silence });
        await fenceHosts({ sql, log });
      },
    },
    {
      name: 'deadlines',
      everyMs: SECOND_MS,
      body: () => endOverdueOperations({ sql, log }),
    },
    {
      name: 'idle-transactions',
      everyMs: SECOND_MS,
      body: async () => {
        const sessions = await terminateIdleTransactions(sql, { afterMs: IDLE_TRANSACTION_MS });
        if (sessions > 0) log.warn({ sessions }, 'terminated idle-in-transaction sessions');
      },
    },
  ];
}

/** The loops of the process that have nothing to do with hosts. */
export function maintenanceLoops({ sql, log }: { sql: Sql; log: Log }): LoopEntry[] {
  return [
    { name: 'close-usage', everyMs: MINUTE_MS, body: () => closeUsage({ sql, log }) },
    { name: 'clean-up', everyMs: 10 * MINUTE_MS, body: () => cleanUp({ sql, log }) },
  ];
}
