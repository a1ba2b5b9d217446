import { createLog } from '@gantry/daemon/log';
import { runProcess } from '@gantry/daemon/run';
import { migrate } from '@gantry/db/migrate';
import { startServer } from './server.ts';
import { readApiSettings } from './settings.ts';

const log = createLog({
  process: 'api',
  level: process.env['GANTRY_LOG_LEVEL'] ?? 'info',
  buffered: true,
});

await runProcess({
  log,
  start: async () => {
    const settings = readApiSettings();
    await migrate(settings.databaseUrl);
    const server = await startServer({ settings, log });
    return { ready: { port: server.port }, stop: server.stop };
  },
});
