import { createLog } from '@gantry/daemon/log';
import { Metrics } from '@gantry/daemon/metrics/metrics';
import { addProcessMetrics } from '@gantry/daemon/metrics/process-metrics';
import { readMetricsAddress, serveMetrics } from '@gantry/daemon/metrics/serve-metrics';
import { runProcess } from '@gantry/daemon/run';
import { createSettingsReader, EXPOSED_SECRETS, findExposedSecrets } from '@gantry/daemon/settings';
import { readTracingSettings, startTracing } from '@gantry/daemon/tracing/start-tracing';
import { migrate } from '@gantry/db/migrate';
import { startServer } from './server.ts';
import { API_SECRETS, readApiSettings } from './settings.ts';

const log = createLog({
  process: 'api',
  level: process.env['GANTRY_LOG_LEVEL'] ?? 'info',
  buffered: true,
});

const METRICS_PORT = 7480;

await runProcess({
  log,
  start: async () => {
    const variables = findExposedSecrets(API_SECRETS);
    if (variables.length > 0) log.warn({ variables }, EXPOSED_SECRETS);
    const settings = readApiSettings();
    const address = readMetricsAddress(createSettingsReader(), METRICS_PORT);
    await migrate(settings.databaseUrl);
    const metrics = new Metrics();
    addProcessMetrics(metrics);
    const tracing = readTracingSettings(createSettingsReader());
    const tracer = await startTracing(tracing, { service: 'gantry-api', log });
    const server = await startServer({ settings, log, metrics, tracer });
    const serving = await serveMetrics({ metrics, log, ...address, problem: server.problem });
    return {
      ready: { port: server.port, metrics_port: serving.port() },
      async stop() {
        await server.stop();
        await serving.stop();
        await tracer?.stop();
      },
    };
  },
});
