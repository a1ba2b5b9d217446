import { createLog } from '@gantry/daemon/log';
import { runProcess } from '@gantry/daemon/run';
import { EXPOSED_SECRETS, findExposedSecrets } from '@gantry/daemon/settings';
import { migrate } from '@gantry/db/migrate';
import { startServer } from './server.ts';
import { API_SECRETS, readApiSettings } from './settings.ts';

const log = createLog({
  process: 'api',
  level: process.env['GANTRY_LOG_LEVEL'] ?? 'info',
  buffered: true,
});

await runProcess({
  log,
  start: async () => {
    const variables = findExposedSecrets(API_SECRETS);
    if (variables.length > 0) log.warn({ variables }, EXPOSED_SECRETS);
    const settings = readApiSettings();
    await migrate(settings.databaseUrl);
    const server = await startServer({ settings, log });
    return { ready: { port: server.port }, stop: server.stop };
  },
});
