import type { Log } from '@gantry/daemon/log';
import { startLoop } from '@gantry/daemon/loop';
import type { Secrets } from '@gantry/daemon/secrets';
import type { Sql } from '@gantry/db/connect';
import { listRevokedSerials } from '@gantry/db/queries/hosts/host-certificates';
import { recordHeartbeat, removeScheduler } from '@gantry/db/queries/hosts/host-liveness';
import { terminateIdleTransactions } from '@gantry/db/queries/maintenance/idle-transactions';
import { newId } from '@gantry/model/ids';
import type { AuthorityFiles } from '@gantry/pki/certificate-authority';
import { serveConsoles } from './consoles/serve-consoles.ts';
import { AttachedHosts } from './deliver/attached-hosts.ts';
import { startDelivering } from './deliver/start-delivering.ts';
import { ensureAuthority } from './fleet/authority.ts';
import { startFleetServer } from './fleet/fleet-server.ts';
import { HEALTH_RULES, type HealthRule } from './health/health-rules.ts';
import { hostHandlers } from './host-handlers.ts';
import { closeStreamsInBatches } from './liveness/close-streams.ts';
import { cutLostHosts } from './liveness/cut-lost-hosts.ts';
import { fenceHosts } from './liveness/fence-hosts.ts';
import { markUnreachable } from './liveness/mark-unreachable.ts';
import { startPlacing } from './place/start-placing.ts';
import { endOverdue } from './settle/end-overdue.ts';
import { settleWithoutHost } from './settle/settle-without-host.ts';
import { startSettling } from './settle/start-settling.ts';

export type SchedulerOptions = {
  sql: Sql;
  log: Log;
  secrets: Secrets;
  /**
   * Where agents find this process, and the names they may know it by; and where api processes do, if
   * that is not by the first of the names.
   */
  fleet: { host: string; port: number; names: string[]; address?: string | undefined };
  givenAuthority?: AuthorityFiles | undefined;
  certificateTtlMs: number;
  leaseTtlMs: number;
  unreachableAfterMs: number;
  /** Absent: as they come. */
  healthRules?: readonly HealthRule[];
  pollMs?: number;
  settleConcurrency?: number;
};

export type Scheduler = {
  id: string;
  port: number;
  attachedCount(): number;
  locations(): string[];
  stop(): Promise<void>;
};

const BEAT_MS = 1_000;
/** As many beats may be missed before others take a scheduler for dead. */
const DEAD_AFTER_BEATS = 5;
const ROLL_CALL_MS = 5_000;
/** Longer than a living process ever pauses within a transaction, shorter than clients wait. */
const IDLE_LIMIT_MS = 6_000;

/**
 * Place, deliver, settle. Any number of these run beside each other on one database; what each holds
 * in memory can be lost at any moment, for it is all read again.
 */
export async function startScheduler(options: SchedulerOptions): Promise<Scheduler> {
  const { sql, log, secrets, fleet, pollMs = 100 } = options;
  const id = newId();
  const authority = await ensureAuthority({ sql, secrets, given: options.givenAuthority });
  await recordHeartbeat(sql, { schedulerId: id, address: '' });

  const hosts = new AttachedHosts();
  const delivering = startDelivering({ sql, log, hosts, pollMs });
  const placing = startPlacing({
    ...{ sql, log, schedulerId: id, pollMs, ttlMs: options.leaseTtlMs },
    onPlaced: (hostIds) => delivering.want(...hostIds),
  });
  const settlingAlone = startLoop({
    ...{ name: 'settle-without-host', everyMs: pollMs, log },
    body: () => settleWithoutHost(sql),
  });
  const settling = startSettling({
    ...{ sql, log, concurrency: options.settleConcurrency ?? 4 },
    rules: options.healthRules ?? HEALTH_RULES,
    onSettled: () => settlingAlone.nudge(),
  });
  const closing = closeStreamsInBatches({ sql, log });
  const server = await startFleetServer({
    ...{ sql, log, authority, ...fleet, certificateTtlMs: options.certificateTtlMs },
    handlers: hostHandlers({ sql, log, schedulerId: id, hosts, delivering, settling, closing }),
    consoles: serveConsoles({ log, secrets, hosts, delivering }),
  });
  const address = fleet.address ?? `${bracketed(fleet.names[0] ?? fleet.host)}:${server.port}`;
  const beat = () => recordHeartbeat(sql, { schedulerId: id, address });
  await beat();
  const watch = { sql, log };
  const silence = {
    schedulerMs: DEAD_AFTER_BEATS * BEAT_MS,
    hostMs: options.unreachableAfterMs,
  };
  const loops = [
    startLoop({
      ...{ name: 'beat', everyMs: BEAT_MS, log },
      body: async () => {
        const wasGivenUp = await beat();
        // Others have taken the streams away in the database: hosts have to attach again.
        if (wasGivenUp) for (const { stream } of hosts.values()) stream.cut('attach again');
      },
    }),
    startLoop({
      ...{ name: 'revocations', everyMs: 2 * pollMs, log },
      body: async () => server.cutRevoked(await listRevokedSerials(sql)),
    }),
    startLoop({
      ...{ name: 'roll-call', everyMs: ROLL_CALL_MS, log },
      body: () => cutLostHosts({ sql, hosts }),
    }),
    startLoop({
      ...{ name: 'liveness', everyMs: Math.min(BEAT_MS, options.unreachableAfterMs / 4), log },
      body: async () => {
        await markUnreachable({ ...watch, silence });
        await fenceHosts(watch);
      },
    }),
    startLoop({
      ...{ name: 'deadlines', everyMs: BEAT_MS, log },
      body: () => endOverdue(watch),
    }),
    startLoop({
      ...{ name: 'idle transactions', everyMs: BEAT_MS, log },
      body: async () => {
        const sessions = await terminateIdleTransactions(sql, { afterMs: IDLE_LIMIT_MS });
        if (sessions > 0) log.warn({ sessions }, 'terminated idle-in-transaction sessions');
      },
    }),
    settlingAlone,
  ];

  return {
    id,
    port: server.port,
    attachedCount: () => hosts.size,
    locations: () => placing.locations(),
    async stop() {
      await placing.stop();
      await server.stop();
      await delivering.stop();
      await settling.stop();
      await closing.stop();
      await Promise.all(loops.map((loop) => loop.stop()));
      await removeScheduler(sql, id);
    },
  };
}

const bracketed = (name: string) => (name.includes(':') ? `[${name}]` : name);
