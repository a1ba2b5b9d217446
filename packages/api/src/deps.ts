import type { Log } from '@gantry/daemon/log';
import type { Secrets } from '@gantry/daemon/secrets';
import type { Sql } from '@gantry/db/connect';
import type { AccessTokens } from './auth/access-tokens.ts';
import type { Callers } from './auth/caller.ts';
import type { Metrics } from './base/metrics.ts';
import type { RateLimiter } from './base/rate-limit.ts';
import type { RefusalLog } from './base/refusal-log.ts';
import type { RequestLog } from './base/request-log.ts';
import type { BillingProvider } from './payment-providers/provider.ts';

export type ConsoleTimings = {
  /** How often the client's rights and its silence are checked. */
  checkMs: number;
  /** How long a client may leave pings without a reply. */
  silentMs: number;
  /** How long a console may be idle: nothing is printed and nothing is typed. */
  idleMs: number;
};

/** Everything that a request uses. The server, or a test, creates it once; there are no globals. */
export type Deps = {
  sql: Sql;
  log: Log;
  requestLog: RequestLog;
  secrets: Secrets;
  tokens: AccessTokens;
  callers: Callers;
  billing: BillingProvider;
  metrics: Metrics;
  rateLimiter: RateLimiter;
  /** Limits password attempts for each e-mail and each IP address, before a hash is computed. */
  loginLimiter: RateLimiter;
  refusals: RefusalLog;
  trustedProxies: number;
  consoleTimings: ConsoleTimings;
  /** How long an operation may take before the scheduler fails it. */
  operationDeadlineMs: number;
  /** The public URL of the api, without a slash at the end. */
  baseUrl: () => string;
  /** Returns false after the process has begun to stop. */
  accepting: () => boolean;
};
