import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Log } from '../log.ts';
import type { SettingsReader } from '../settings.ts';
import type { Metrics } from './metrics.ts';

export type MetricsAddress = { host: string; port: number };

/** Each process has its own default port, so that all of them can run on one machine. */
export function readMetricsAddress(reader: SettingsReader, defaultPort: number): MetricsAddress {
  return {
    host: reader.text('GANTRY_METRICS_HOST', '127.0.0.1'),
    port: reader.integer('GANTRY_METRICS_PORT', { fallback: defaultPort, min: 0, max: 65_535 }),
  };
}

type ServeOptions = MetricsAddress & {
  metrics: Metrics;
  log: Log;
  /** Returns why the process does not serve; null if it does. */
  problem: () => string | null;
};

export type MetricsServer = {
  /** Null while the address cannot be used. */
  port(): number | null;
  stop(): Promise<void>;
};

const RETRY_MS = 10_000;
/** A scrape is one short request. */
const REQUEST_LIMIT_MS = 15_000;
const MOST_CONNECTIONS = 32;

/**
 * Serves `/metrics` for Prometheus, and `/healthz` and `/readyz` for load balancers and supervisors, on
 * a port of its own. If the port is taken, the process works without it and tries again: VMs and tenants
 * must not suffer because of monitoring, and Prometheus notices that the target is missing.
 */
export async function serveMetrics(options: ServeOptions): Promise<MetricsServer> {
  const { log, host, port } = options;
  let server: Server | null = null;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let isReported = false;

  const attempt = async () => {
    try {
      const listening = await listen(options);
      if (stopped) listening.close();
      else server = listening;
    } catch (error) {
      if (!isReported) log.warn({ error, host, port }, 'metrics are not served; will be retried');
      isReported = true;
      timer = setTimeout(() => void attempt(), RETRY_MS);
      timer.unref();
    }
  };
  await attempt();

  return {
    port: () => (server?.address() as AddressInfo | null | undefined)?.port ?? null,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      const closing = server;
      if (!closing) return;
      const closed = new Promise((resolve) => closing.close(resolve));
      closing.closeAllConnections();
      await closed;
    },
  };
}

async function listen({ metrics, log, host, port, problem }: ServeOptions): Promise<Server> {
  const server = createServer({ requestTimeout: REQUEST_LIMIT_MS }, (request, response) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead) return reply(response, 405, 'only GET is allowed here\n');
    const [path] = (request.url ?? '').split('?');
    switch (path) {
      case '/metrics':
        metrics.render().then(
          (text) => reply(response, 200, text, metrics.contentType),
          (error: unknown) => {
            log.error({ error }, 'metrics not rendered');
            reply(response, 500, 'the metrics could not be rendered\n');
          },
        );
        return;
      case '/healthz':
        return reply(response, 200, 'ok\n');
      case '/readyz': {
        const why = problem();
        return reply(response, why === null ? 200 : 503, `${why ?? 'ready'}\n`);
      }
      default:
        return reply(response, 404, 'there are /metrics, /healthz and /readyz\n');
    }
  });
  server.maxConnections = MOST_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  // A connection that cannot be accepted is the problem of its client.
  server.on('error', (error) => log.warn({ error }, 'server of metrics failed'));
  return server;
}

function reply(
  response: ServerResponse,
  status: number,
  text: string,
  contentType = 'text/plain; charset=utf-8',
): void {
  response.writeHead(status, { 'content-type': contentType, 'x-content-type-options': 'nosniff' });
  response.end(text);
}
