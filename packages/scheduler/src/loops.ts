import type { Log } from '@gantry/daemon/log';
import type { LoopOptions } from '@gantry/daemon/loop';
import type { Sql } from '@gantry/db/connect';
import type { DatabaseWatch } from '@gantry/db/database-watch';
import {
  addDefaultSubnets,
  listLocationsWithoutSubnets,
} from '@gantry/db/queries/catalogue/default-subnets';
import { listRevokedSerials } from '@gantry/db/queries/hosts/host-certificates';
import { recordHeartbeat } from '@gantry/db/queries/hosts/host-liveness';
import { forgetFailedBuilds } from '@gantry/db/queries/hosts/host-trouble';
import { terminateIdleTransactions } from '@gantry/db/queries/maintenance/idle-transactions';
import type { Retention } from '@gantry/db/queries/maintenance/remove-history';
import { insertCapacitySample } from '@gantry/db/queries/operators/fleet-gpus';
import type { AttachedHosts } from './attached/attached-hosts.ts';
import { cleanUp } from './clean-up.ts';
import { closeUsage } from './close-usage.ts';
import type { FleetServer } from './fleet/fleet-server.ts';
import { abortLostStreams } from './liveness/abort-lost-streams.ts';
import { followEra } from './liveness/follow-era.ts';
import { markUnreachable } from './liveness/mark-unreachable.ts';
import { watchAcknowledgements } from './liveness/watch-acknowledgements.ts';
import { advanceRollouts } from './rollouts/advance-rollouts.ts';
import { endOverdueOperations } from './settle/end-overdue.ts';

/** A body that runs again and again. Every scheduler may run all of them at the same time. */
export type LoopEntry = Pick<LoopOptions, 'name' | 'everyMs' | 'body'>;

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HEARTBEAT_MS = SECOND_MS;
const HEARTBEAT_RETRY_MS = 100;
/** A scheduler without a database keeps its streams for this part of the time until hosts are unreachable. */
const GIVE_UP_SHARE = 2 / 3;
/** A scheduler that misses this many heartbeats is considered dead. */
const DEAD_AFTER_HEARTBEATS = 5;
/** A host that could not build VMs gets another one after this time. */
const BUILD_RETRY_MS = 10 * MINUTE_MS;
/** After an outage of the database, schedulers and hosts have this long to report before anyone is judged. */
const SETTLED_MS = 10_000;
/** Longer than a healthy process ever pauses in a transaction, shorter than clients wait. */
const IDLE_TRANSACTION_MS = 6_000;

type LoopContext = {
  sql: Sql;
  watch: Pick<DatabaseWatch, 'clockProblem' | 'steadyMs'>;
  log: Log;
  schedulerId: string;
  /** Where api processes reach this scheduler. */
  address: string;
  hosts: AttachedHosts;
  server: FleetServer;
  unreachableAfterMs: number;
  onEra(): void;
  /** Reads which authorities the fleet trusts. */
  following(): Promise<void>;
};

/**
 * The loops of a scheduler, besides those that react to events: place/start-placing.ts,
 * deliver/start-delivering.ts, settle/start-settling.ts, settle/settle-without-host.ts and poll-changes.ts; and besides
 * those of fencing/fencing-loops.ts.
 */
export function schedulerLoops(context: LoopContext): LoopEntry[] {
  const { sql, watch, log, hosts, server, unreachableAfterMs } = context;
  const silence = {
    schedulerMs: DEAD_AFTER_HEARTBEATS * HEARTBEAT_MS,
    hostMs: unreachableAfterMs,
  };
  return [
    heartbeatLoop(context),
    {
      name: 'era',
      everyMs: SECOND_MS,
      body: followEra({ sql, log, onEra: context.onEra }),
    },
    { name: 'authorities', everyMs: 3 * SECOND_MS, body: context.following },
    {
      name: 'revocations',
      everyMs: SECOND_MS,
      body: async () => server.endRevoked(await listRevokedSerials(sql)),
    },
    {
      name: 'lost-streams',
      everyMs: 5 * SECOND_MS,
      body: () => abortLostStreams({ sql, hosts }),
    },
    {
      name: 'acknowledgements',
      everyMs: SECOND_MS,
      body: watchAcknowledgements({ sql, log, hosts }),
    },
    {
      name: 'failed-builds',
      everyMs: 10 * SECOND_MS,
      body: async () => {
        const retried = await forgetFailedBuilds(sql, { afterMs: BUILD_RETRY_MS });
        if (retried > 0) log.info({ hosts: retried }, 'hosts may build VMs again');
      },
    },
    {
      name: 'liveness',
      everyMs: Math.min(SECOND_MS, unreachableAfterMs / 4),
      body: () => markUnreachable({ sql, log, silence, steadyMs: watch.steadyMs() }),
    },
    { name: 'rollouts', everyMs: SECOND_MS, body: () => advanceRollouts({ sql, log }) },
    {
      name: 'deadlines',
      everyMs: 3 * SECOND_MS,
      body: async () => {
        // Nothing could be finished while the database was away.
        if (watch.steadyMs() >= Math.min(SETTLED_MS, unreachableAfterMs))
          await endOverdueOperations({ sql, log });
      },
    },
    {
      name: 'clock',
      everyMs: SECOND_MS,
      body: async () => {
        const problem = watch.clockProblem();
        server.setServing(problem === null && watch.steadyMs() > 0);
        // Other schedulers take the hosts. The server refuses them until the clock is right.
        if (problem !== null) server.endStreams(problem);
      },
    },
    {
      name: 'idle-transactions',
      everyMs: 3 * SECOND_MS,
      body: async () => {
        const sessions = await terminateIdleTransactions(sql, { afterMs: IDLE_TRANSACTION_MS });
        if (sessions > 0) log.warn({ sessions }, 'terminated idle-in-transaction sessions');
      },
    },
  ];
}

function heartbeatLoop(context: LoopContext): LoopEntry {
  const { sql, schedulerId, address, hosts, server, unreachableAfterMs } = context;
  let isRecorded = true;
  let recordedAt = performance.now();
  return {
    name: 'heartbeat',
    // After an outage of the database the others wait for a sign of life.
    everyMs: () => (isRecorded ? HEARTBEAT_MS : HEARTBEAT_RETRY_MS),
    body: async () => {
      // Perhaps other schedulers reach the database. The hosts have time to attach to one of them
      // before they are unreachable.
      if (!isRecorded && performance.now() > recordedAt + unreachableAfterMs * GIVE_UP_SHARE)
        server.endStreams('this scheduler does not reach its database');
      isRecorded = false;
      const wasConsideredDead = await recordHeartbeat(sql, { schedulerId, address });
      isRecorded = true;
      recordedAt = performance.now();
      // Another scheduler has closed the streams in the database: the hosts must attach again.
      if (wasConsideredDead) for (const { stream } of hosts.values()) stream.abort('attach again');
    },
  };
}

/** The loops of the process that have nothing to do with hosts. */
export function maintenanceLoops({
  sql,
  log,
  watch,
  retention,
}: Pick<LoopContext, 'sql' | 'log' | 'watch'> & { retention: Retention }): LoopEntry[] {
  return [
    {
      name: 'close-usage',
      everyMs: MINUTE_MS,
      body: async () => {
        // A closed day is final. It is not closed if any clock, this or the database's, may be wrong.
        if (watch.clockProblem() === null) await closeUsage({ sql, log });
      },
    },
    {
      name: 'default-subnets',
      everyMs: MINUTE_MS,
      body: async () => {
        for (const location of await listLocationsWithoutSubnets(sql))
          await addDefaultSubnets(sql, location);
      },
    },
    { name: 'capacity', everyMs: MINUTE_MS, body: () => insertCapacitySample(sql) },
    { name: 'clean-up', everyMs: 10 * MINUTE_MS, body: () => cleanUp({ sql, log, retention }) },
  ];
}
