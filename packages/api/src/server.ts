import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Log } from '@gantry/daemon/log';
import { startLoop } from '@gantry/daemon/loop';
import { createSecrets } from '@gantry/daemon/secrets';
import { connect } from '@gantry/db/connect';
import { serve } from '@hono/node-server';
import { buildApp } from './app.ts';
import { createAccessTokens } from './auth/access-tokens.ts';
import { createCallers } from './auth/caller.ts';
import { createMetrics } from './base/metrics.ts';
import { createRateLimiter } from './base/rate-limit.ts';
import { createRefusalLog } from './base/refusal-log.ts';
import { createRequestLog } from './base/request-log.ts';
import { acceptUpgrades } from './consoles/accept-upgrades.ts';
import { CONSOLE_TIMINGS } from './consoles/serve-console.ts';
import type { Deps } from './deps.ts';
import { createBilling } from './payment-providers/create-billing.ts';
import type { ApiSettings } from './settings.ts';

export type ApiServer = { port: number; stop(): Promise<void> };

/**
 * Password attempts for each e-mail and each IP address: enough for people, too few for guessing.
 */
const LOGIN_LIMIT = { perSecond: 1, burst: 20 };
const KEY_ROTATION_CHECK_MS = 3_600_000;

/** Starts the HTTP server. The database must already have the schema of this version. */
export async function startServer({
  settings,
  log,
}: {
  settings: ApiSettings;
  log: Log;
}): Promise<ApiServer> {
  const sql = connect({
    url: settings.databaseUrl,
    name: 'gantry-api',
    maxConnections: settings.databaseConnections,
  });
  const secrets = createSecrets(settings.secretKey);
  const tokens = await createAccessTokens({ sql, secrets, keyDays: settings.signingKeyDays });
  const callers = createCallers({ sql, tokens });
  const refusals = createRefusalLog({ sql, log });
  let accepting = true;
  let baseUrl = settings.publicUrl ?? '';
  const deps: Deps = {
    sql,
    log,
    secrets,
    tokens,
    callers,
    refusals,
    billing: createBilling({
      sql,
      secrets,
      settings,
      baseUrl: () => baseUrl,
      onPayment: () => callers.forget(),
    }),
    requestLog: createRequestLog(log),
    metrics: createMetrics(),
    rateLimiter: createRateLimiter(settings.rateLimit),
    loginLimiter: createRateLimiter(LOGIN_LIMIT),
    trustedProxies: settings.trustedProxies,
    consoleTimings: CONSOLE_TIMINGS,
    operationDeadlineMs: settings.operationDeadlineMs,
    baseUrl: () => baseUrl,
    accepting: () => accepting,
  };
  const rotation = startLoop({
    name: 'signing-key-rotation',
    everyMs: KEY_ROTATION_CHECK_MS,
    log,
    body: () => tokens.rotate(),
  });
  const app = buildApp(deps);
  const server = await listen(app, settings);
  const upgrades = acceptUpgrades(server, app);
  const { port } = server.address() as AddressInfo;
  baseUrl ||= `http://${settings.host}:${port}`;

  return {
    port,
    /** Finishes the requests that have begun, then closes the database connections. */
    async stop() {
      accepting = false;
      const closed = new Promise((resolve) => server.close(resolve));
      upgrades.stop();
      // Idle connections would keep the server open. Busy ones close after their reply.
      server.keepAliveTimeout = 1;
      server.closeIdleConnections();
      await closed;
      await rotation.stop();
      await refusals.stop();
      await sql.end({ timeout: 5 });
    },
  };
}

/**
 * Longer than most clients and load balancers keep an idle connection, which is a minute. If the
 * server closed first, it could close a connection on which a request is already on its way.
 */
const IDLE_CONNECTION_MS = 75_000;

function listen(app: ReturnType<typeof buildApp>, { host, port }: ApiSettings): Promise<Server> {
  return new Promise((resolve, reject) => {
    const serving = serve({ fetch: app.fetch, hostname: host, port }, () => resolve(server));
    const server = serving as Server;
    server.keepAliveTimeout = IDLE_CONNECTION_MS;
    server.once('error', reject);
  });
}
