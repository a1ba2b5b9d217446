import { setFlagsFromString } from 'node:v8';
import { createLog } from '@gantry/daemon/log';
import { startLoop } from '@gantry/daemon/loop';
import { runProcess } from '@gantry/daemon/run';
import { createSecrets } from '@gantry/daemon/secrets';
import { connect } from '@gantry/db/connect';
import { migrate } from '@gantry/db/migrate';
import { cleanUp } from './clean-up.ts';
import { closeUsage } from './close-usage.ts';
import { readGivenAuthority } from './fleet/authority.ts';
import { startScheduler } from './scheduler.ts';
import { readSchedulerSettings } from './settings.ts';

const MINUTE_MS = 60_000;

// A TLS connection keeps some bytes that Node cuts from a pool, and with them the 8 KiB they were
// cut from: ten thousand hosts would hold ten thousand of those.
Buffer.poolSize = 0;
// A full collection reads all that is kept for every host, on other threads, and creations wait for
// the cores meanwhile. By itself V8 begins one whenever the heap has grown by a tenth.
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
      ...{ sql, log },
      secrets: createSecrets(settings.secretKey),
      fleet: settings.fleet,
      givenAuthority: await readGivenAuthority(settings.authority),
      certificateTtlMs: settings.certificateTtlMs,
      leaseTtlMs: settings.leaseTtlMs,
      unreachableAfterMs: settings.unreachableAfterMs,
      healthRules: settings.healthRules,
      // The rest is for placing, delivering and the loops.
      settleConcurrency: Math.max(1, Math.floor(settings.databaseConnections / 2)),
    });
    const loops = [
      startLoop({
        ...{ name: 'close-usage', everyMs: MINUTE_MS, log },
        body: () => closeUsage({ sql, log }),
      }),
      startLoop({
        ...{ name: 'clean-up', everyMs: 10 * MINUTE_MS, log },
        body: () => cleanUp({ sql, log }),
      }),
    ];
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
