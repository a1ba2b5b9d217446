import { setFlagsFromString } from 'node:v8';
import { createLog } from '@gantry/daemon/log';
import { startLoop } from '@gantry/daemon/loop';
import { addDatabaseMetrics, addProbeDuration } from '@gantry/daemon/metrics/database-metrics';
import { Metrics } from '@gantry/daemon/metrics/metrics';
import { addProcessMetrics } from '@gantry/daemon/metrics/process-metrics';
import { serveMetrics } from '@gantry/daemon/metrics/serve-metrics';
import { runProcess } from '@gantry/daemon/run';
import { createSecrets } from '@gantry/daemon/secrets';
import { EXPOSED_SECRETS, findExposedSecrets } from '@gantry/daemon/settings';
import { startTracing } from '@gantry/daemon/tracing/start-tracing';
import { migrate } from '@gantry/db/migrate';
import { openDatabase } from '@gantry/db/open-database';
import { readGivenAuthority } from './fleet/authority.ts';
import { createFleetSecrets } from './fleet/fleet-secrets.ts';
import { maintenanceLoops } from './loops.ts';
import { startScheduler } from './scheduler.ts';
import { readSchedulerSettings, SCHEDULER_SECRETS } from './settings.ts';
import { cephOpener } from './storage/open-ceph.ts';

// A TLS connection keeps a few bytes that Node allocates from an 8 KiB pool, and so keeps the whole
// pool alive. Ten thousand hosts would hold ten thousand pools.
Buffer.poolSize = 0;
// A full garbage collection reads the data of all hosts on other threads, and requests wait for the
// cores meanwhile. By default V8 starts one whenever the heap has grown by 10 %.
setFlagsFromString('--heap-growing-percent=50');

const log = createLog({
  process: 'scheduler',
  level: process.env['GANTRY_LOG_LEVEL'] ?? 'info',
});

/** Enough to close a day of a large installation. */
const MAINTENANCE_LIMIT_MS = 300_000;

/**
 * Much longer than a statement of a placement takes. A location waits for it if a session hangs, so it
 * is shorter than elsewhere.
 */
const PLACING_LIMIT_MS = 5_000;
/** Up to four batches are committed at the same time, while leases are renewed. */
const PLACING_CONNECTIONS = 5;

await runProcess({
  log,
  start: async () => {
    const variables = findExposedSecrets(SCHEDULER_SECRETS);
    if (variables.length > 0) log.warn({ variables }, EXPOSED_SECRETS);
    const settings = readSchedulerSettings();
    const { secretKey, fleetKey } = settings;
    const secrets = createSecrets(secretKey);
    const fleetSecrets = createFleetSecrets({ fleetKey, secretKey });
    if (fleetKey === undefined && settings.authority.keyFile === undefined) {
      log.warn(
        "api processes can open the key of the fleet's authority: set GANTRY_FLEET_KEY for schedulers",
      );
    }
    await migrate(settings.databaseUrl);
    const metrics = new Metrics();
    addProcessMetrics(metrics);
    const database = await openDatabase({
      onProbe: addProbeDuration(metrics),
      url: settings.databaseUrl,
      name: 'gantry-scheduler',
      maxConnections: settings.databaseConnections,
      plansOnce: true,
      log,
    });
    addDatabaseMetrics(metrics, database);
    const { sql, watch } = database;
    const tracer = await startTracing(settings.tracing, { service: 'gantry-scheduler', log });
    const { storageKeysDirectory } = settings;
    const scheduler = await startScheduler({
      tracer,
      sql,
      placingSql: database.openPool({
        name: 'gantry-scheduler',
        maxConnections: PLACING_CONNECTIONS,
        plansOnce: true,
        statementLimitMs: PLACING_LIMIT_MS,
      }),
      watch,
      log,
      secrets,
      fleetSecrets,
      mayCreateAuthority: fleetKey !== undefined,
      fleet: settings.fleet,
      givenAuthority: await readGivenAuthority(settings.authority),
      certificateTtlMs: settings.certificateTtlMs,
      leaseTtlMs: settings.leaseTtlMs,
      unreachableAfterMs: settings.unreachableAfterMs,
      lostHosts: settings.lostHosts,
      healthRules: settings.healthRules,
      imageNetworks: settings.imageNetworks,
      imageUploads: settings.imageUploads,
      imageStoreDirectory: settings.imageStoreDirectory,
      ...(storageKeysDirectory === undefined
        ? {}
        : { openCluster: cephOpener(storageKeysDirectory, log) }),
      backupDirectory: settings.backupDirectory,
      backupBucket: settings.backupBucket,
      metrics,
      fleetMetricsMs: settings.fleetMetricsMs,
      // The remaining connections are for placing, delivering and the loops.
      settleConcurrency: Math.max(1, Math.floor(settings.databaseConnections / 2)),
    });
    const maintenance = database.openPool({
      name: 'gantry-scheduler',
      maxConnections: 1,
      statementLimitMs: MAINTENANCE_LIMIT_MS,
    });
    const loops = maintenanceLoops({
      sql: maintenance,
      log,
      watch,
      retention: settings.retention,
    }).map((entry) => startLoop({ ...entry, log }));
    const { problem } = scheduler;
    const serving = await serveMetrics({ metrics, log, ...settings.metrics, problem });
    return {
      ready: {
        scheduler_id: scheduler.id,
        fleet_port: scheduler.port,
        metrics_port: serving.port(),
      },
      async stop() {
        await scheduler.stop();
        await serving.stop();
        await Promise.all(loops.map((loop) => loop.stop()));
        await database.end();
        await tracer?.stop();
      },
    };
  },
});
