import type { Log } from '@gantry/daemon/log';
import { startLoop } from '@gantry/daemon/loop';
import type { Sql } from '@gantry/db/connect';
import { type AuditLine, insertAuditLines } from '@gantry/db/queries/operations/records';
import { newId } from '@gantry/model/ids';

/**
 * Writes failed requests for tokens to the audit log. A request whose credential was checked has a
 * line of its own, which is written within a second. The limits allow few of those. Requests that a
 * limit refused may be many: those of one account, source and ten seconds share a line, which has
 * their number. If even the number of such lines is too large, the rest share one line without an
 * account and a source. A crash loses what is not written yet.
 */
export type LoginLog = {
  add(attempt: TokenAttempt, outcome: { status: number; limited: boolean }): void;
  stop(): Promise<void>;
};

export type TokenAttempt = {
  at: Date;
  requestId: string;
  grantType: string;
  /** Null if the request did not show which user it is for. */
  userId: string | null;
  email: string;
  sourceIp: string;
  userAgent: string;
};

const FLUSH_MS = 1_000;
const SHARED_FLUSHES = 10;
const MAX_LINES = 5_000;
const MAX_USER_AGENT = 256;

export function createLoginLog({ sql, log }: { sql: Sql; log: Log }): LoginLog {
  let single: AuditLine[] = [];
  let shared = new Map<string, AuditLine & { attempts: number }>();
  let flushes = 0;

  const count = (key: string, line: AuditLine) => {
    const known = shared.get(key);
    if (known) known.attempts += 1;
    else shared.set(key, { ...line, attempts: 1 });
  };

  const flush = async ({ all }: { all: boolean }) => {
    flushes += 1;
    const lines = single;
    single = [];
    if (all || flushes % SHARED_FLUSHES === 0) {
      lines.push(...shared.values());
      shared = new Map();
    }
    await insertAuditLines(sql, lines);
  };
  const loop = startLoop({
    name: 'login-log',
    everyMs: FLUSH_MS,
    log,
    body: () => flush({ all: false }),
  });

  return {
    add(attempt, { status, limited }) {
      const line = tokenAuditLine(attempt, status);
      if (!limited && single.length < MAX_LINES) single.push(line);
      else if (shared.size < MAX_LINES)
        count(`${line.actorId} ${line.actor} ${line.sourceIp} ${status}`, line);
      else count('others', { ...line, actorType: 'anonymous', actorId: null, ...NO_ACTOR });
    },
    async stop() {
      await loop.stop();
      await flush({ all: true });
    },
  };
}

const NO_ACTOR = { actor: '', sourceIp: '', userAgent: '' };

export function tokenAuditLine(attempt: TokenAttempt, status: number): AuditLine {
  return {
    auditId: newId(attempt.at.getTime()),
    at: attempt.at,
    organizationId: null,
    projectId: null,
    actorType: attempt.userId === null ? 'anonymous' : 'user',
    actorId: attempt.userId,
    actor: attempt.email,
    action: 'tokens.grant',
    resourceType: 'tokens',
    resourceId: attempt.grantType,
    sourceIp: attempt.sourceIp,
    userAgent: storable(attempt.userAgent),
    requestId: attempt.requestId,
    status,
  };
}

/** What a client calls itself, as text that PostgreSQL stores and of which a client cannot send much. */
export function storable(userAgent: string): string {
  return userAgent.toWellFormed().replaceAll('\0', '').slice(0, MAX_USER_AGENT);
}
