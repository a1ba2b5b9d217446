import type { AddressInfo } from 'node:net';
import type { Log } from '@gantry/daemon/log';
import { startLoop } from '@gantry/daemon/loop';
import { addDatabaseMetrics, addProbeDuration } from '@gantry/daemon/metrics/database-metrics';
import { Metrics } from '@gantry/daemon/metrics/metrics';
import { createSecrets } from '@gantry/daemon/secrets';
import type { Tracer } from '@gantry/daemon/tracing/tracer';
import { connect } from '@gantry/db/connect';
import { openDatabase } from '@gantry/db/open-database';
import { fieldsOfEnd, watchOperationEnds } from '@gantry/db/operation-ends';
import { createVmReader } from '@gantry/db/queries/vms/vm-reader';
import { buildApp } from './app.ts';
import { createAccessTokens } from './auth/access-tokens.ts';
import { createCallers } from './auth/caller.ts';
import { createFairQueue, HASH_QUEUE } from './auth/fair-queue.ts';
import { createKeyUses } from './auth/key-uses.ts';
import { createLoginBudgets } from './auth/login-budget.ts';
import { createLoginLog } from './auth/login-log.ts';
import { resealStoredSecrets } from './auth/reseal.ts';
import { addLoadMetrics, createRequestMetrics } from './base/metrics.ts';
import { createRateLimiter } from './base/rate-limit.ts';
import { createRefusalLog } from './base/refusal-log.ts';
import { createRefusalPause } from './base/refusal-pause.ts';
import { createRequestLog } from './base/request-log.ts';
import { enforceStanding } from './billing/enforce-standing.ts';
import { acceptUpgrades } from './consoles/accept-upgrades.ts';
import { CONSOLE_TIMINGS } from './consoles/serve-console.ts';
import type { Deps } from './deps.ts';
import { createEventStreams } from './event-streams/open-streams.ts';
import { listen } from './http/listen.ts';
import { requestShares } from './http/request-shares.ts';
import { createBilling } from './payment-providers/create-billing.ts';
import type { ApiSettings } from './settings.ts';
import { deliverWebhooks } from './webhook-delivery/deliver-webhooks.ts';
import { webhookTimings } from './webhook-delivery/timings.ts';

export type ApiServer = {
  port: number;
  /** Returns why it does not serve; null if it does. */
  problem(): string | null;
  stop(): Promise<void>;
};

/** Failed requests for tokens of each source: enough for people, too few for guessing. */
const LOGIN_LIMIT = { perSecond: 1, burst: 20 };
const KEY_ROTATION_CHECK_MS = 3_600_000;
const ENFORCE_STANDING_MS = 10_000;
const SEND_USAGE_MS = 60_000;
const WEBHOOK_CONNECTIONS = 2;

/** Starts the HTTP server. The database must already have the schema of this version. */
export async function startServer({
  settings,
  log,
  metrics = new Metrics(),
  tracer = null,
  processNowMs = Date.now,
}: {
  settings: ApiSettings;
  log: Log;
  metrics?: Metrics;
  tracer?: Tracer | null;
  /** The clock of this process. Tests give another one. */
  processNowMs?: () => number;
}): Promise<ApiServer> {
  const database = await openDatabase({
    url: settings.databaseUrl,
    name: 'gantry-api',
    maxConnections: settings.databaseConnections,
    log,
    processNowMs,
    onProbe: addProbeDuration(metrics),
  });
  addDatabaseMetrics(metrics, database);
  const { sql, watch: clock } = database;
  watchOperationEnds(sql, (end) => log.info(fieldsOfEnd(end), 'operation ended'));
  const secrets = createSecrets(settings.secretKey);
  const tokens = await createAccessTokens({
    ...{ sql, secrets, keyDays: settings.signingKeyDays },
    nowMs: clock.nowMs,
  });
  const callers = createCallers({ sql, tokens, nowMs: clock.nowMs });
  const refusals = createRefusalLog({ sql, log });
  const loginLog = createLoginLog({ sql, log });
  const keyUses = createKeyUses({ sql, log });
  const eventStreams = createEventStreams({
    ...{ sql, log, callers, maxPerSharer: settings.organizationEventStreams },
  });
  const requestQueue = createFairQueue(requestShares(settings.databaseConnections));
  addLoadMetrics(metrics, { requests: requestQueue.load, eventStreams: eventStreams.count });
  let accepting = true;
  let baseUrl = settings.publicUrl ?? '';
  const deps: Deps = {
    sql,
    clock,
    log,
    secrets,
    tokens,
    callers,
    readVm: createVmReader(sql),
    refusals,
    keyUses,
    billing: createBilling({
      sql,
      secrets,
      settings,
      baseUrl: () => baseUrl,
      onPayment: () => callers.forget(),
    }),
    requestLog: createRequestLog(log),
    tracer,
    metrics: createRequestMetrics(metrics),
    rateLimiter: createRateLimiter(settings.rateLimit),
    organizationLimiter: createRateLimiter({
      ...settings.organizationRateLimit,
      of: ' of the organization',
    }),
    sourceLimiter: createRateLimiter(settings.sourceRateLimit),
    loginLimiter: createRateLimiter(LOGIN_LIMIT),
    loginBudgets: createLoginBudgets({ sql, secrets }),
    hashQueue: createFairQueue(HASH_QUEUE),
    requestQueue,
    refusalPause: createRefusalPause(),
    loginLog,
    trustedProxies: settings.trustedProxies,
    consoleTimings: CONSOLE_TIMINGS,
    eventStreams,
    webhookRules: settings.webhooks.rulesOf,
    imageNetworks: settings.imageNetworks,
    imageUploads: settings.imageUploads,
    hasImageStore: settings.hasImageStore,
    operationDeadlineMs: settings.operationDeadlineMs,
    joining: settings.joining,
    baseUrl: () => baseUrl,
    accepting: () => accepting,
  };
  const rotation = startLoop({
    name: 'signing-key-rotation',
    everyMs: KEY_ROTATION_CHECK_MS,
    log,
    body: () => tokens.rotate(),
  });
  const resealing = startLoop({
    name: 'reseal',
    everyMs: KEY_ROTATION_CHECK_MS,
    log,
    body: () => resealStoredSecrets({ sql, secrets, log }),
  });
  const enforcement = startLoop({
    name: 'enforce-standing',
    everyMs: ENFORCE_STANDING_MS,
    log,
    body: () => enforceStanding(deps),
  });
  const sending = startLoop({
    name: 'send-usage',
    everyMs: SEND_USAGE_MS,
    log,
    body: async () => deps.billing.collection?.sendUsage(log),
  });
  // Of their own, so that many webhooks do not keep requests waiting.
  const webhookSql = connect({
    ...{
      url: settings.databaseUrl,
      name: 'gantry-api-webhooks',
      maxConnections: WEBHOOK_CONNECTIONS,
    },
  });
  const webhooks = deliverWebhooks({
    ...{ sql: webhookSql, log, secrets, nowMs: clock.nowMs, rulesOf: settings.webhooks.rulesOf },
    timings: webhookTimings(settings.webhooks),
  });
  const app = buildApp(deps);
  const server = await listen({ app, log, host: settings.host, port: settings.port });
  const upgrades = acceptUpgrades(server, app);
  const { port } = server.address() as AddressInfo;
  baseUrl ||= `http://${settings.host}:${port}`;

  return {
    port,
    problem() {
      if (!accepting) return 'draining';
      return clock.clockProblem() ?? (clock.steadyMs() > 0 ? null : 'database unavailable');
    },
    /** Finishes the requests that have begun, then closes the database connections. */
    async stop() {
      accepting = false;
      const closed = new Promise((resolve) => server.close(resolve));
      upgrades.stop();
      await eventStreams.stop();
      // Idle connections would keep the server open. Busy ones close after their reply.
      server.keepAliveTimeout = 1;
      server.closeIdleConnections();
      await closed;
      await rotation.stop();
      await resealing.stop();
      await enforcement.stop();
      await sending.stop();
      await webhooks.stop();
      await webhookSql.end({ timeout: 5 });
      await refusals.stop();
      await loginLog.stop();
      await keyUses.stop();
      await database.end();
    },
  };
}
