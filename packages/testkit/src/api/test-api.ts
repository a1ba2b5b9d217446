import { buildApp } from '@gantry/api/app';
import { createAccessTokens } from '@gantry/api/auth/access-tokens';
import { createCallers } from '@gantry/api/auth/caller';
import { createFairQueue, HASH_QUEUE } from '@gantry/api/auth/fair-queue';
import { createKeyUses } from '@gantry/api/auth/key-uses';
import { createLoginBudgets } from '@gantry/api/auth/login-budget';
import { createLoginLog } from '@gantry/api/auth/login-log';
import { createRequestMetrics } from '@gantry/api/base/metrics';
import { createRateLimiter, type RateLimiter } from '@gantry/api/base/rate-limit';
import { createRefusalLog } from '@gantry/api/base/refusal-log';
import { createRefusalPause } from '@gantry/api/base/refusal-pause';
import { createRequestLog } from '@gantry/api/base/request-log';
import { CONSOLE_TIMINGS } from '@gantry/api/consoles/serve-console';
import type { Deps } from '@gantry/api/deps';
import { createEventStreams } from '@gantry/api/event-streams/open-streams';
import { requestShares } from '@gantry/api/http/request-shares';
import { createBilling } from '@gantry/api/payment-providers/create-billing';
import { createLog } from '@gantry/daemon/log';
import { Metrics } from '@gantry/daemon/metrics/metrics';
import { createSecrets } from '@gantry/daemon/secrets';
import type { Sql } from '@gantry/db/connect';
import { createVmReader } from '@gantry/db/queries/vms/vm-reader';
import { createTestDatabase, TEST_CONNECTIONS } from '../database/test-database.ts';

/** The whole api with a temporary database. Tests call it without a socket. */
export type TestApi = {
  deps: Deps;
  sql: Sql;
  databaseUrl: string;
  /** Sends a request and returns status, headers and parsed body. */
  call(method: string, path: string, options?: CallOptions): Promise<Reply>;
  stop(): Promise<void>;
};

// biome-ignore lint/suspicious/noExplicitAny: tests look into replies freely
export type Reply = { status: number; headers: Headers; body: any };
export type CallOptions = { bearer?: string; body?: unknown; headers?: Record<string, string> };

/** The key of every process of a test's control plane. */
export const SECRET_KEY = 'a secret key for tests, long enough';

/** The settings of an installation that sends its invoices itself. */
export const NO_STRIPE = {
  stripe: {
    ...{ secretKey: undefined, apiUrl: undefined, webhookSecret: undefined },
    ...{ priceId: undefined, meterEventName: '' },
  },
  paymentGraceMs: 0,
};

/** The settings of an installation that sends webhooks to public addresses only. */
export const PUBLIC_IMAGES = { allowsPrivate: false, allowsLoopback: false };

export const PUBLIC_WEBHOOKS = {
  ...{ replyMs: 1_000, retryMs: 1_000 },
  rulesOf: () => ({ allowsPrivate: false, allowsLoopback: false }),
};

/** An installation whose hosts get their packages in another way. */
export const NO_REPOSITORY = { aptSource: undefined, aptKey: undefined, schedulers: undefined };

/** Short, so that tests need not wait. */
export const STREAM_TIMINGS = { pollMs: 20, heartbeatMs: 200, checkMs: 100, stalledMs: 500 };

const unlimited: RateLimiter = { take: () => {}, charge: () => {}, refund: () => {} };

export async function startTestApi(overrides: Partial<Deps> = {}): Promise<TestApi> {
  const database = await createTestDatabase();
  const { sql } = database;
  const log = overrides.log ?? createLog({ process: 'api', level: 'silent' });
  const secrets = createSecrets(SECRET_KEY);
  const tokens = await createAccessTokens({ sql, secrets, keyDays: 30 });
  const callers = createCallers({ sql, tokens });
  const refusals = createRefusalLog({ sql, log });
  const loginLog = createLoginLog({ sql, log });
  const keyUses = createKeyUses({ sql, log });
  const eventStreams = createEventStreams({
    ...{ sql, log, callers, maxPerSharer: 1_000, timings: STREAM_TIMINGS },
  });
  const baseUrl = () => 'http://api.test';
  const deps: Deps = {
    sql,
    clock: { nowMs: () => Date.now(), clockProblem: () => null },
    log,
    secrets,
    tokens,
    callers,
    readVm: createVmReader(sql),
    refusals,
    keyUses,
    baseUrl,
    billing: createBilling({
      sql,
      secrets,
      baseUrl,
      settings: NO_STRIPE,
      onPayment: () => callers.forget(),
    }),
    requestLog: createRequestLog(log),
    tracer: null,
    metrics: createRequestMetrics(new Metrics()),
    rateLimiter: createRateLimiter({ perSecond: 1e6, burst: 1e6 }),
    organizationLimiter: unlimited,
    sourceLimiter: unlimited,
    loginLimiter: unlimited,
    loginBudgets: createLoginBudgets({ sql, secrets }),
    hashQueue: createFairQueue(HASH_QUEUE),
    requestQueue: createFairQueue(requestShares(TEST_CONNECTIONS)),
    refusalPause: createRefusalPause(),
    loginLog,
    trustedProxies: 0,
    consoleTimings: CONSOLE_TIMINGS,
    eventStreams,
    webhookRules: PUBLIC_WEBHOOKS.rulesOf,
    imageNetworks: PUBLIC_IMAGES,
    hasImageStore: false,
    operationDeadlineMs: 600_000,
    joining: NO_REPOSITORY,
    accepting: () => true,
    ...overrides,
  };
  const app = buildApp(deps);
  return {
    deps,
    sql,
    databaseUrl: database.url,
    async call(method, path, { bearer, body, headers } = {}) {
      const response = await app.request(`/v0.1${path}`, {
        method,
        headers: {
          ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined
          ? {}
          : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        body: text === '' ? undefined : JSON.parse(text),
      };
    },
    async stop() {
      await eventStreams.stop();
      await refusals.stop();
      await loginLog.stop();
      await keyUses.stop();
      await database.drop();
    },
  };
}
