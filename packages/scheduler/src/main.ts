import { setFlagsFromString } from 'node:v8';
import { createLog } from '@gantry/daemon/log';
import { startLoop } from '@gantry/daemon/loop';
import { runProcess } from '@gantry/daemon/run';
import { createSecrets } from '@gantry/daemon/secrets';
import { connect } from '@gantry/db/connect';
import { migrate } from '@gantry/db/migrate';
import { readGivenAuthority } from './fleet/authority.ts';
import { maintenanceLoops } from './loops.ts';
import { startScheduler } from './scheduler.ts';
import { readSchedulerSettings } from './settings.ts';

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

await runProcess({
  log,
  start: async () => {
    const settings = readSchedulerSettings();
    await migrate(settings.databaseUrl);
    const sql = connect({
      url: settings.databaseUrl,
      name: 'gantry-scheduler',
      maxConnections: settings.databaseConnections,
    });
    const scheduler = await startScheduler({
      sql,
      log,
      secrets: createSecrets(settings.secretKey),
      fleet: settings.fleet,
      givenAuthority: await readGivenAuthority(settings.authority),
      certificateTtlMs: settings.certificateTtlMs,
      leaseTtlMs: settings.leaseTtlMs,
      unreachableAfterMs: settings.unreachableAfterMs,
      healthRules: settings.healthRules,
      // The remaining connections are for placing, delivering and the loops.
      settleConcurrency: Math.max(1, Math.floor(settings.databaseConnections / 2)),
    });
    const loops = maintenanceLoops({ sql, log }).map((entry) => startLoop({ ...entry, log }));
    return {
      ready: { scheduler_id: scheduler.id, fleet_port: scheduler.port },
      async stop() {
        await scheduler.stop();
        await Promise.all(loops.map((loop) => loop.stop()));
        await sql.end({ timeout: 5 });
      },
    };
  },
});
