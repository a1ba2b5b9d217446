import type { AddressRules } from '@gantry/daemon/address-rules';
import type { Log } from '@gantry/daemon/log';
import { startLoop } from '@gantry/daemon/loop';
import { Metrics } from '@gantry/daemon/metrics/metrics';
import type { Secrets } from '@gantry/daemon/secrets';
import type { Tracer } from '@gantry/daemon/tracing/tracer';
import type { Sql } from '@gantry/db/connect';
import type { DatabaseWatch } from '@gantry/db/database-watch';
import { watchOperationEnds } from '@gantry/db/operation-ends';
import { recordHeartbeat, removeScheduler } from '@gantry/db/queries/hosts/host-liveness';
import { newId } from '@gantry/model/ids';
import type { AuthorityFiles } from '@gantry/pki/certificate-authority';
import { AttachedHosts } from './attached/attached-hosts.ts';
import { serveConsoles } from './consoles/serve-consoles.ts';
import { startDelivering } from './deliver/start-delivering.ts';
import type { LostHostPolicy } from './fencing/fence-lost-hosts.ts';
import { fencingLoops } from './fencing/fencing-loops.ts';
import { type Authorities, fingerprintsOf } from './fleet/authorities.ts';
import { ensureAuthorities } from './fleet/authority.ts';
import type { FleetSecrets } from './fleet/fleet-secrets.ts';
import { startFleetServer } from './fleet/fleet-server.ts';
import { followAuthorities } from './fleet/follow-authorities.ts';
import { followOperations } from './follow-operations.ts';
import { HEALTH_RULES, type HealthRule } from './health/health-rules.ts';
import { hostHandlers } from './host-handlers.ts';
import { serveImages } from './image-transfers/serve-images.ts';
import { closeStreamsInBatches } from './liveness/close-streams.ts';
import { schedulerLoops } from './loops.ts';
import { addFleetMetrics } from './metrics/fleet-metrics.ts';
import { addSchedulerMetrics } from './metrics/scheduler-metrics.ts';
import { startPlacing } from './place/start-placing.ts';
import { pollChanges } from './poll-changes.ts';
import { settleWithoutHost } from './settle/settle-without-host.ts';
import { startSettling } from './settle/start-settling.ts';
import type { BucketSettings } from './storage/backup-files/bucket/bucket-settings.ts';
import { openImageStore } from './storage/image-store/image-store.ts';
import {
  type ImageStoreOptions,
  startImageStore,
} from './storage/image-store/start-image-store.ts';
import { noClusters } from './storage/no-clusters.ts';
import { volumeSecretOpener } from './storage/open-volume-secret.ts';
import { startVolumes } from './storage/start-volumes.ts';
import type { OpenCluster } from './storage/storage-clusters.ts';

export type SchedulerOptions = {
  sql: Sql;
  /** A pool for transactions that place VMs, with a shorter limit. The default is `sql`. */
  placingSql?: Sql;
  watch: Pick<DatabaseWatch, 'nowMs' | 'clockProblem' | 'steadyMs'>;
  log: Log;
  /** The keys that schedulers share with api processes. */
  secrets: Secrets;
  /** The keys that only schedulers have. The default is `secrets`. */
  fleetSecrets?: FleetSecrets;
  /** False: an authority must exist. The default is true. */
  mayCreateAuthority?: boolean;
  /**
   * `host` and `port`: where this process listens for agents. `names`: the names in its certificate.
   * `address`: where api processes reach it. The default is the first name.
   */
  fleet: { host: string; port: number; names: string[]; address?: string | undefined };
  givenAuthority?: AuthorityFiles | undefined;
  certificateTtlMs: number;
  leaseTtlMs: number;
  unreachableAfterMs: number;
  /** When hosts are fenced automatically. The default: never. */
  lostHosts?: LostHostPolicy;
  /** The default is `HEALTH_RULES`. */
  healthRules?: readonly HealthRule[];
  pollMs?: number;
  settleConcurrency?: number;
  /** Opens storage clusters. The default has the key of none. */
  openCluster?: OpenCluster;
  /** Where backups of disks are stored. The default: nowhere. With a bucket it is the spool of this scheduler. */
  backupDirectory?: string | undefined;
  backupBucket?: BucketSettings | undefined;
  /** From which addresses images of tenants may be fetched; public ones unless given. */
  imageNetworks?: AddressRules;
  /** Where uploaded files of images are. */
  imageUploads?: string | undefined;
  /** Where images of projects are stored in locations without network storage, for all schedulers; absent: nowhere. */
  imageStoreDirectory?: string | undefined;
  /** Converts files of images for the store; with QEMU's program unless given. */
  convertImage?: ImageStoreOptions['convert'];
  metrics?: Metrics;
  /** Null, the default: no traces. */
  tracer?: Tracer | null;
  /** Figures of the fleet are read at most this often for `metrics`. */
  fleetMetricsMs?: number;
};

export type Scheduler = {
  id: string;
  port: number;
  /** Returns why it does not serve; null if it does. */
  problem(): string | null;
  attachedCount(): number;
  locations(): string[];
  stop(): Promise<void>;
};

/** The poll of changes says when there is something to settle. */
const SETTLE_MS = 60_000;
const FLEET_METRICS_MS = 10_000;
const ONLY_OPERATORS_FENCE: LostHostPolicy = { afterMs: null, mostLost: 1 };

/**
 * Starts a scheduler: it places VMs, delivers specs to hosts and settles their reports. Any number of
 * schedulers can share a database. Memory is only a cache: after a crash everything is read again.
 */
export async function startScheduler(options: SchedulerOptions): Promise<Scheduler> {
  const { sql, watch, log, secrets, fleet, pollMs = 100, metrics = new Metrics() } = options;
  const id = newId();
  const fleetSecrets = options.fleetSecrets ?? { secrets };
  const opening = { sql, fleetSecrets, given: options.givenAuthority };
  let authorities = await ensureAuthorities({
    ...opening,
    mayCreate: options.mayCreateAuthority ?? true,
    now: new Date(watch.nowMs()),
  });
  await recordHeartbeat(sql, { schedulerId: id, address: '' });

  const follower = followOperations(log, options.tracer);
  const { placingSql = sql } = options;
  for (const pool of [sql, placingSql]) watchOperationEnds(pool, follower.ended);
  const hosts = new AttachedHosts();
  const delivering = startDelivering({
    ...{ sql, log, hosts, pollMs, follower },
    authorities: () => fingerprintsOf(authorities),
    openSecret: volumeSecretOpener({ secrets: fleetSecrets.secrets, log }),
  });
  const placing = startPlacing({
    sql,
    writeSql: placingSql,
    log,
    follower,
    schedulerId: id,
    pollMs,
    mayPlace: () => watch.clockProblem() === null,
    ttlMs: options.leaseTtlMs,
    onPlaced: (hostIds) => delivering.request(...hostIds),
    onBusy: () => polling.hurry(),
  });
  const settlingAlone = startLoop({
    name: 'settle-without-host',
    everyMs: SETTLE_MS,
    log,
    body: () => settleWithoutHost(sql),
  });
  const volumes = startVolumes({
    ...{ sql, log, secrets: fleetSecrets.secrets },
    openCluster: options.openCluster ?? noClusters,
    backupDirectory: options.backupDirectory,
    backupBucket: options.backupBucket,
    imageNetworks: options.imageNetworks,
    imageUploads: options.imageUploads,
    leases: () => placing.leases(),
  });
  const store = openImageStore(options.imageStoreDirectory);
  const storing = startImageStore({
    ...{ sql, log, store, convert: options.convertImage },
    imageNetworks: options.imageNetworks,
    imageUploads: options.imageUploads,
    leases: () => placing.leases(),
  });
  const transfers = serveImages({ sql, log, store });
  const polling = pollChanges({
    ...{ sql, log, pollMs },
    locations: () => placing.locations(),
    onChanges: (changes) => {
      placing.note(changes);
      delivering.note(changes);
      volumes.note(changes);
      storing.note(changes);
      if (changes.isUnsettled) settlingAlone.nudge();
    },
    onGap: () => delivering.noteAll(),
  });
  const onDuration = addSchedulerMetrics(metrics, {
    hosts,
    locations: () => placing.locations(),
    authorityExpiresMs: () =>
      Math.min(...authorities.trusted.map(({ certificate }) => Date.parse(certificate.validTo))),
  });
  const everyMs = options.fleetMetricsMs ?? FLEET_METRICS_MS;
  addFleetMetrics(metrics, { sql, log, schedulerId: id, everyMs });
  const settling = startSettling({
    onDuration,
    sql,
    log,
    follower,
    concurrency: options.settleConcurrency ?? 4,
    rules: options.healthRules ?? HEALTH_RULES,
    onSettled: () => settlingAlone.nudge(),
    onSpecDue: (hostId) => delivering.request(hostId),
  });
  const closing = closeStreamsInBatches({ sql, log });
  const server = await startFleetServer({
    sql,
    log,
    clock: watch,
    authorities: () => authorities,
    ...fleet,
    certificateTtlMs: options.certificateTtlMs,
    handlers: hostHandlers({ sql, log, schedulerId: id, hosts, delivering, settling, closing }),
    consoles: serveConsoles({ log, secrets, clock: watch, hosts, delivering }),
    images: transfers,
  });
  const address = fleet.address ?? `${bracketed(fleet.names[0] ?? fleet.host)}:${server.port}`;
  await recordHeartbeat(sql, { schedulerId: id, address });
  const { unreachableAfterMs } = options;
  // The streams and caches belong to a history of the database in which other commits were made.
  const onEra = () => {
    placing.restart();
    polling.restart();
    for (const { stream } of hosts.values()) stream.abort('an era has begun: attach again');
  };
  const onAuthorities = (changed: Authorities) => {
    authorities = changed;
    server.authoritiesChanged();
    delivering.request(...[...hosts.values()].map(({ stream }) => stream.hostId));
  };
  const following = followAuthorities({ ...opening, log, known: authorities, onAuthorities });
  const process = { sql, watch, log, schedulerId: id, address };
  const context = { ...process, hosts, server, unreachableAfterMs, onEra, following };
  const loops = schedulerLoops(context).map((entry) => startLoop({ ...entry, log }));
  loops.push(settlingAlone);
  const fencing = fencingLoops({
    ...{ sql, log, clusters: (clusterId) => volumes.cluster(clusterId) },
    policy: options.lostHosts ?? ONLY_OPERATORS_FENCE,
    steadyMs: () => watch.steadyMs(),
    locations: () => placing.locations(),
  }).map((entry) => startLoop({ ...entry, log }));

  let isStopping = false;
  return {
    id,
    port: server.port,
    problem() {
      if (isStopping) return 'stopping';
      return watch.clockProblem() ?? (watch.steadyMs() > 0 ? null : 'database unavailable');
    },
    attachedCount: () => hosts.size,
    locations: () => placing.locations(),
    async stop() {
      isStopping = true;
      await polling.stop();
      await Promise.all(fencing.map((loop) => loop.stop()));
      await Promise.all([volumes.stop(), storing.stop(), transfers.stop()]);
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
