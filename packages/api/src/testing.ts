import { createLog } from '@gantry/daemon/log';
import { createSecrets, sha256 } from '@gantry/daemon/secrets';
import type { Sql } from '@gantry/db/connect';
import { insertAccessKey } from '@gantry/db/queries/tenants/access-keys';
import {
  insertOrganization,
  insertOwner,
  insertPaymentMethod,
  insertProject,
} from '@gantry/db/queries/tenants/tenants';
import { createTestDatabase } from '@gantry/db/testing';
import { newId } from '@gantry/model/ids';
import { buildApp } from './app.ts';
import { createAccessTokens } from './auth/access-tokens.ts';
import { createCallers } from './auth/caller.ts';
import { newKey } from './auth/keys.ts';
import { createMetrics } from './base/metrics.ts';
import { createRateLimiter, type RateLimiter } from './base/rate-limit.ts';
import { createRefusalLog } from './base/refusal-log.ts';
import { createRequestLog } from './base/request-log.ts';
import { CONSOLE_TIMINGS } from './consoles/serve-console.ts';
import type { Deps } from './deps.ts';
import { createBilling } from './payment-providers/create-billing.ts';

/** The whole api with a temporary database. Tests call it without a socket. */
export type TestApi = {
  deps: Deps;
  sql: Sql;
  databaseUrl: string;
  /** Sends a request and returns status, headers and parsed body. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  stop(): Promise<void>;
};

// biome-ignore lint/suspicious/noExplicitAny: tests look into replies freely
export type Answer = { status: number; headers: Headers; body: any };
export type CallOptions = { bearer?: string; body?: unknown; headers?: Record<string, string> };

const unlimited: RateLimiter = { take: () => {} };

export async function startTestApi(overrides: Partial<Deps> = {}): Promise<TestApi> {
  const database = await createTestDatabase();
  const { sql } = database;
  const log = overrides.log ?? createLog({ process: 'api', level: 'silent' });
  const secrets = createSecrets('a secret key for tests, long enough');
  const tokens = await createAccessTokens({ sql, secrets, keyDays: 30 });
  const callers = createCallers({ sql, tokens });
  const refusals = createRefusalLog({ sql, log });
  const baseUrl = () => 'http://api.test';
  const deps: Deps = {
    sql,
    log,
    secrets,
    tokens,
    callers,
    refusals,
    baseUrl,
    billing: createBilling({
      sql,
      secrets,
      baseUrl,
      settings: { stripe: { secretKey: undefined, apiUrl: undefined } },
      onPayment: () => callers.forget(),
    }),
    requestLog: createRequestLog(log),
    metrics: createMetrics(),
    rateLimiter: createRateLimiter({ perSecond: 1e6, burst: 1e6 }),
    loginLimiter: unlimited,
    trustedProxies: 0,
    consoleTimings: CONSOLE_TIMINGS,
    operationDeadlineMs: 600_000,
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
      await refusals.stop();
      await database.drop();
    },
  };
}

export type TestTenant = {
  organizationId: string;
  projectId: string;
  /** A member's access key and a read-only one. */
  accessKey: string;
  readOnlyKey: string;
  owner: TestUser;
  member: TestUser;
  readOnly: TestUser;
};
export type TestUser = { id: string; email: string; token: string };

/** Creates a paid organization with a project, keys of two roles and users of three roles. */
export async function makeTenant(
  api: TestApi,
  name: string,
  { paid = true } = {},
): Promise<TestTenant> {
  const { sql } = api;
  const organizationId = newId();
  const projectId = newId();
  await sql.begin(async (tx) => {
    await insertOrganization(tx, {
      id: organizationId,
      name,
      payment_customer_id: `local_${organizationId}`,
    });
    if (paid)
      await insertPaymentMethod(tx, {
        organizationId,
        provider: 'local',
        details: { holder: name },
      });
    await insertProject(tx, { id: projectId, name: 'main', organization_id: organizationId });
  });
  const owner = await makeUser(api, `owner@${name}.test`);
  await insertOwner(sql, { id: newId(), organizationId, userId: owner.id });
  const member = await makeUser(api, `member@${name}.test`);
  const readOnly = await makeUser(api, `reader@${name}.test`);
  for (const [user, role] of [
    [member, 'member'],
    [readOnly, 'read-only'],
  ] as const) {
    await sql`insert into members (id, user_id, organization_id, project_id, role)
      values (${newId()}, ${user.id}, ${organizationId}, ${projectId}, ${role})`;
  }
  return {
    organizationId,
    projectId,
    owner,
    member,
    readOnly,
    accessKey: await makeAccessKey(api, projectId, 'member'),
    readOnlyKey: await makeAccessKey(api, projectId, 'read-only'),
  };
}

/** Creates a user with a valid token. The user cannot log in with a password. */
export async function makeUser(
  api: TestApi,
  email: string,
  { operator = false } = {},
): Promise<TestUser> {
  const id = newId();
  await api.sql`insert into users (id, email, password_hash, operator) values (${id}, ${email}, 'none', ${operator})`;
  return { id, email, token: await api.deps.tokens.issue(id) };
}

export async function makeAccessKey(
  api: TestApi,
  projectId: string,
  role: 'member' | 'read-only',
): Promise<string> {
  const key = newKey('access_key');
  const id = newId();
  await insertAccessKey(api.sql, {
    id,
    projectId,
    name: `key-${id.slice(-12)}`,
    role,
    hash: sha256(key),
    createdAt: new Date(),
    expiresAt: null,
  });
  return key;
}

export const SSH_PUBLIC_KEY =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGnZ0P5QvE0y4tH0zvYt0rR0lKqM3p5D0m5lqDkZ5sYx test@example';
