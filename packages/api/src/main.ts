import { createLog } from '@gantry/daemon/log';
import { runProcess } from '@gantry/daemon/run';
import { migrate } from '@gantry/db/migrate';
import { readApiConfig } from './config.ts';
import { startServer } from './server.ts';

const log = createLog({
  process: 'api',
  level: process.env['GANTRY_LOG_LEVEL'] ?? 'info',
  buffered: true,
});

await runProcess({
  log,
  start: async () => {
    const config = readApiConfig();
    await migrate(config.databaseUrl);
    const server = await startServer({ config, log });
    return { ready: { port: server.port }, stop: server.stop };
  },
});
