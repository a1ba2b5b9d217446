import type { AddressRules } from '@gantry/daemon/address-rules';
import type { Log } from '@gantry/daemon/log';
import type { Secrets } from '@gantry/daemon/secrets';
import type { Tracer } from '@gantry/daemon/tracing/tracer';
import type { Sql } from '@gantry/db/connect';
import type { DatabaseWatch } from '@gantry/db/database-watch';
import type { VmReader } from '@gantry/db/queries/vms/vm-reader';
import { CloudError } from '@gantry/model/errors';
import type { AccessTokens } from './auth/access-tokens.ts';
import type { Callers } from './auth/caller.ts';
import type { FairQueue } from './auth/fair-queue.ts';
import type { KeyUses } from './auth/key-uses.ts';
import type { LoginBudgets } from './auth/login-budget.ts';
import type { LoginLog } from './auth/login-log.ts';
import type { RequestMetrics } from './base/metrics.ts';
import type { RateLimiter } from './base/rate-limit.ts';
import type { RefusalLog } from './base/refusal-log.ts';
import type { RefusalPause } from './base/refusal-pause.ts';
import type { RequestLog } from './base/request-log.ts';
import type { EventStreams } from './event-streams/open-streams.ts';
import type { JoinSettings } from './join/join-settings.ts';
import type { BillingProvider } from './payment-providers/provider.ts';
import type { WebhookRules } from './webhook-delivery/settings.ts';

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
  /** The time of the database, and whether the clock of this process agrees with it. */
  clock: Pick<DatabaseWatch, 'nowMs' | 'clockProblem'>;
  log: Log;
  requestLog: RequestLog;
  /** Null: no traces. */
  tracer: Tracer | null;
  secrets: Secrets;
  tokens: AccessTokens;
  callers: Callers;
  readVm: VmReader;
  billing: BillingProvider;
  metrics: RequestMetrics;
  /** Limits requests for each credential. */
  rateLimiter: RateLimiter;
  /** Limits requests for each organization, whichever of its credentials they have. */
  organizationLimiter: RateLimiter;
  /** Limits requests for each source, before they are authenticated. */
  sourceLimiter: RateLimiter;
  /** Limits requests for tokens for each source, whichever accounts they name. */
  loginLimiter: RateLimiter;
  /** Limits password attempts for each account, before a hash is computed. */
  loginBudgets: LoginBudgets;
  /** Computes the hashes of passwords, which need much more CPU than all else that a request does. */
  hashQueue: FairQueue;
  /** Runs requests with a bearer, so that no organization takes all connections to the database. */
  requestQueue: FairQueue;
  /** Slows clients down that ignore refusals. */
  refusalPause: RefusalPause;
  loginLog: LoginLog;
  refusals: RefusalLog;
  keyUses: KeyUses;
  trustedProxies: number;
  consoleTimings: ConsoleTimings;
  eventStreams: EventStreams;
  webhookRules: WebhookRules;
  /** From which addresses tenants may let images be fetched. */
  imageNetworks: AddressRules;
  /** Where uploaded files of images are kept until a scheduler has imported them; absent: there are no uploads. */
  imageUploads?: string | undefined;
  /** Whether schedulers have an image store, for images in locations without network storage. */
  hasImageStore: boolean;
  /** How long an operation may take before the scheduler fails it. */
  operationDeadlineMs: number;
  joining: JoinSettings;
  /** The public URL of the api, without a slash at the end. */
  baseUrl: () => string;
  /** Returns false after the process has begun to stop. */
  accepting: () => boolean;
};

/** Throws if the clock of this process is wrong: it would make and check tokens with a wrong time. */
export function requireRightClock({ clock }: Deps): void {
  const problem = clock.clockProblem();
  if (problem !== null) throw new CloudError('unavailable', problem);
}
