import type { Log } from '@gantry/daemon/log';
import { startLoop } from '@gantry/daemon/loop';
import type { Secrets } from '@gantry/daemon/secrets';
import type { Sql } from '@gantry/db/connect';
import { recordHeartbeat, removeScheduler } from '@gantry/db/queries/hosts/host-liveness';
import { newId } from '@gantry/model/ids';
import type { AuthorityFiles } from '@gantry/pki/certificate-authority';
import { AttachedHosts } from './attached/attached-hosts.ts';
import { serveConsoles } from './consoles/serve-consoles.ts';
import { startDelivering } from './deliver/start-delivering.ts';
import { ensureAuthority } from './fleet/authority.ts';
import { startFleetServer } from './fleet/fleet-server.ts';
import { HEALTH_RULES, type HealthRule } from './health/health-rules.ts';
import { hostHandlers } from './host-handlers.ts';
import { closeStreamsInBatches } from './liveness/close-streams.ts';
import { schedulerLoops } from './loops.ts';
import { startPlacing } from './place/start-placing.ts';
import { settleWithoutHost } from './settle/settle-without-host.ts';
import { startSettling } from './settle/start-settling.ts';

export type SchedulerOptions = {
  sql: Sql;
  log: Log;
  secrets: Secrets;
  /**
   * `host` and `port`: where this process listens for agents. `names`: the names in its certificate.
   * `address`: where api processes reach it. The default is the first name.
   */
  fleet: { host: string; port: number; names: string[]; address?: string | undefined };
  givenAuthority?: AuthorityFiles | undefined;
  certificateTtlMs: number;
  leaseTtlMs: number;
  unreachableAfterMs: number;
  /** The default is `HEALTH_RULES`. */
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

/**
 * Starts a scheduler: it places VMs, delivers specs to hosts and settles their reports. Any number of
 * schedulers can share a database. Memory is only a cache: after a crash everything is read again.
 */
export async function startScheduler(options: SchedulerOptions): Promise<Scheduler> {
  const { sql, log, secrets, fleet, pollMs = 100 } = options;
  const id = newId();
  const authority = await ensureAuthority({ sql, secrets, given: options.givenAuthority });
  await recordHeartbeat(sql, { schedulerId: id, address: '' });

  const hosts = new AttachedHosts();
  const delivering = startDelivering({ sql, log, hosts, pollMs });
  const placing = startPlacing({
    sql,
    log,
    schedulerId: id,
    pollMs,
    ttlMs: options.leaseTtlMs,
    onPlaced: (hostIds) => delivering.request(...hostIds),
  });
  const settlingAlone = startLoop({
    name: 'settle-without-host',
    everyMs: pollMs,
    log,
    body: () => settleWithoutHost(sql),
  });
  const settling = startSettling({
    sql,
    log,
    concurrency: options.settleConcurrency ?? 4,
    rules: options.healthRules ?? HEALTH_RULES,
    onSettled: () => settlingAlone.nudge(),
  });
  const closing = closeStreamsInBatches({ sql, log });
  const server = await startFleetServer({
    sql,
    log,
    authority,
    ...fleet,
    certificateTtlMs: options.certificateTtlMs,
    handlers: hostHandlers({ sql, log, schedulerId: id, hosts, delivering, settling, closing }),
    consoles: serveConsoles({ log, secrets, hosts, delivering }),
  });
  const address = fleet.address ?? `${bracketed(fleet.names[0] ?? fleet.host)}:${server.port}`;
  await recordHeartbeat(sql, { schedulerId: id, address });
  const { unreachableAfterMs } = options;
  const context = { sql, log, schedulerId: id, address, hosts, server, pollMs, unreachableAfterMs };
  const loops = schedulerLoops(context).map((entry) => startLoop({ ...entry, log }));
  loops.push(settlingAlone);

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
