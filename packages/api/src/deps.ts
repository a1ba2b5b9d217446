import type { Log } from '@gantry/daemon/log';
import type { Secrets } from '@gantry/daemon/secrets';
import type { Sql } from '@gantry/db/connect';
import type { AccessTokens } from './auth/access-tokens.ts';
import type { Callers } from './auth/caller.ts';
import type { BillingProvider } from './billing/provider.ts';
import type { ConsolePace } from './consoles/serve-console.ts';
import type { Metrics } from './http/metrics.ts';
import type { RateLimiter } from './http/rate-limit.ts';
import type { RefusalLog } from './http/refusal-log.ts';
import type { RequestLog } from './http/request-log.ts';

/** Everything a request may use. Built once, in main.ts or by a test; there are no globals. */
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
  /** Guards passwords: counted per e-mail and per address, before any hash is computed. */
  loginLimiter: RateLimiter;
  refusals: RefusalLog;
  trustedProxies: number;
  consolePace: ConsolePace;
  /** How long an operation may take before it fails. */
  operationDeadlineMs: number;
  /** Where clients reach this api, without a slash at the end. */
  baseUrl: () => string;
  /** False once the process drains. */
  accepting: () => boolean;
};
