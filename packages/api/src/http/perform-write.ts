import { isIdempotencyConflict } from '@gantry/db/errors';
import {
  insertRecord,
  readFirstReply,
  removeExpiredReply,
  type WriteRecord,
} from '@gantry/db/queries/operations/records';
import { transact } from '@gantry/db/transact';
import { badRequest, CloudError } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import { callerId } from '../auth/caller.ts';
import type { AnyRoute, Request } from './route.ts';

/**
 * Performs a write. One transaction contains the change, its line in the audit log and, if the
 * request has an Idempotency-Key, the reply. A repeated key therefore cannot write twice: the
 * second transaction waits for the first one and fails on the unique key, and the client gets the
 * first reply. Replies to refused requests are not stored, because nothing changed and a repeat may
 * succeed.
 */
export type WriteContext = {
  route: AnyRoute;
  request: Request<unknown, unknown, unknown>;
  requestId: string;
  rawBody: string;
  url: string;
  idempotencyKey: string | undefined;
  /** Throws unless the resource is as the client has read it. */
  requireMatch?: ((request: WriteContext['request']) => Promise<void>) | undefined;
  /** Called with the reply, also if it is the reply to an earlier request with the same key. */
  onReply?: (reply: unknown) => void;
};

/** Longer than every id and catalogue name. */
const MAX_RESOURCE_ID = 128;
const KEY = /^[\x21-\x7e]{1,255}$/;

export async function performWrite(context: WriteContext): Promise<string> {
  const { idempotencyKey } = context;
  if (idempotencyKey === undefined) return await writeOnce(context);
  if (!KEY.test(idempotencyKey)) {
    throw badRequest([
      { field: 'Idempotency-Key', reason: 'must be 1 to 255 printable ASCII characters' },
    ]);
  }
  try {
    return await writeOnce(context);
  } catch (error) {
    // The first request with this key may be the cause of the error, such as a name that is taken.
    const key = { actorId: callerId(context.request.caller), key: idempotencyKey };
    const first = await readFirstReply(context.request.deps.sql, key);
    if (!first) throw error;
    if (first.expired) {
      await removeExpiredReply(context.request.deps.sql, key);
      if (isIdempotencyConflict(error)) return await writeOnce(context);
      throw error;
    }
    const { secrets } = context.request.deps;
    // The first request may have been hashed with an older secret key.
    const isSame = secrets.verify(HASH_PURPOSE, requestText(context), first.request_hash);
    if (!isSame) throw keyReused();
    if (first.sealed) return secrets.unseal('idempotent-reply', first.reply);
    context.onReply?.(JSON.parse(first.reply));
    return first.reply;
  }
}

async function writeOnce(context: WriteContext): Promise<string> {
  const { route, request, requireMatch } = context;
  let sent = '';
  await requireMatch?.(request);
  const record = (reply: unknown) => {
    sent = JSON.stringify(reply);
    context.onReply?.(reply);
    return writeRecord(context, reply, sent);
  };
  if ('handleRecorded' in route) {
    await route.handleRecorded(request, record);
  } else {
    await transact(request.deps.sql, async (tx) => {
      const reply = await route.handle({ ...request, sql: tx });
      await requireMatch?.(request);
      await insertRecord(tx, record(reply));
    });
  }
  if (route.changesAccess) request.deps.callers.forget();
  return sent;
}

function writeRecord(context: WriteContext, reply: unknown, sent: string): WriteRecord {
  const { idempotencyKey, route, request } = context;
  return {
    ...auditLine(context, { status: 200, resourceId: repliedId(reply) }),
    firstReply:
      idempotencyKey === undefined
        ? null
        : {
            key: idempotencyKey,
            requestHash: requestHash(context),
            reply: route.secretReply ? request.deps.secrets.seal('idempotent-reply', sent) : sent,
            sealed: route.secretReply === true,
          },
  };
}

type AuditContext = Pick<WriteContext, 'route' | 'request' | 'requestId'>;
type AuditOutcome = { status: number; resourceId: string | undefined };

export function auditLine(
  { route, request, requestId }: AuditContext,
  { status, resourceId }: AuditOutcome,
) {
  const { caller, scope, params, now, sourceIp } = request;
  return {
    auditId: newId(now.getTime()),
    at: now,
    organizationId: scope.organizationId || null,
    projectId: scope.projectId || null,
    actorType: caller.type,
    actorId: callerId(caller),
    actor: caller.type === 'user' ? caller.grant.email : caller.grant.name,
    action: route.id,
    resourceType: route.id.split('.')[0] ?? '',
    resourceId: resourceId ?? lastValue(params),
    sourceIp,
    requestId,
    status,
  };
}

/**
 * Returns the id of the written resource: of the operation's resource, or the reply's own id or
 * name.
 */
function repliedId(reply: unknown): string | undefined {
  const { operation, id, name } = reply as {
    operation?: { metadata: { id: string } };
    id?: string;
    name?: string;
  };
  return operation?.metadata.id ?? id ?? name;
}

/** Returns the id of the operation that the write opened; empty if it opened none. */
export function operationIdOf(reply: unknown): string {
  const { operation } = (reply ?? {}) as { operation?: { operation_id?: string } };
  return operation?.operation_id ?? '';
}

/** In a refused request the value may be anything, so it is cut to what the audit log can store. */
function lastValue(params: unknown): string {
  const value = String(Object.values((params ?? {}) as Record<string, string>).at(-1) ?? '');
  return value.toWellFormed().replaceAll('\0', '').slice(0, MAX_RESOURCE_ID);
}

/** A keyed hash, because a plain hash of a body with a password could be used to guess it. */
function requestHash(context: WriteContext): string {
  return context.request.deps.secrets.sign(HASH_PURPOSE, requestText(context));
}

const HASH_PURPOSE = 'idempotent-request';

function requestText({ route, url, rawBody }: WriteContext): string {
  return `${route.method} ${url}\n${rawBody}`;
}

function keyReused(): CloudError {
  return new CloudError(
    'idempotency_key_reused',
    'this Idempotency-Key was used with another request within the last 24 hours: use a new key',
  );
}
