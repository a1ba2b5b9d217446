import type { Log } from '@gantry/daemon/log';
import type { Secrets } from '@gantry/daemon/secrets';
import type { Sql } from '@gantry/db/connect';
import type { AccessTokens } from './auth/access-tokens.ts';
import type { Callers } from './auth/caller.ts';
import type { BillingProvider } from './billing/provider.ts';
import type { ConsoleTimings } from './consoles/serve-console.ts';
import type { Metrics } from './http/metrics.ts';
import type { RateLimiter } from './http/rate-limit.ts';
import type { RefusalLog } from './http/refusal-log.ts';
import type { RequestLog } from './http/request-log.ts';

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
