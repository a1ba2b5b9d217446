import { createLog } from '@gantry/daemon/log';
import { startLoop } from '@gantry/daemon/loop';
import { runProcess } from '@gantry/daemon/run';
import { connect } from '@gantry/db/connect';
import { migrate } from '@gantry/db/migrate';
import { cleanUp } from './clean-up.ts';
import { closeUsage } from './close-usage.ts';
import { readSchedulerConfig } from './config.ts';

const MINUTE_MS = 60_000;

const log = createLog({
  process: 'scheduler',
  level: process.env['GANTRY_LOG_LEVEL'] ?? 'info',
});

await runProcess({
  log,
  start: async () => {
    const config = readSchedulerConfig();
    await migrate(config.databaseUrl);
    const sql = connect({
      url: config.databaseUrl,
      name: 'gantry-scheduler',
      maxConnections: config.databaseConnections,
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
      async stop() {
        await Promise.all(loops.map((loop) => loop.stop()));
        await sql.end({ timeout: 5 });
      },
    };
  },
});
