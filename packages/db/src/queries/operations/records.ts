import type { Queryable } from '../../connect.ts';

/**
 * Every accepted write records a line of the audit log in its own transaction and, if the request
 * has an Idempotency-Key, the reply.
 */
export type WriteRecord = {
  auditId: string;
  at: Date;
  organizationId: string | null;
  projectId: string | null;
  actorType: string;
  actorId: string | null;
  actor: string;
  action: string;
  resourceType: string;
  resourceId: string;
  sourceIp: string;
  requestId: string;
  status: number;
  firstReply: { key: string; requestHash: string; reply: string; sealed: boolean } | null;
};

export type AuditLine = Omit<WriteRecord, 'firstReply'> & {
  userAgent?: string;
  attempts?: number;
};

/** Returns the inserts as WITH members, for writes that are one statement. */
export function recordCtes(sql: Queryable, record: WriteRecord) {
  const audit = sql`
    audit as (insert into audit_logs
      (id, at, organization_id, project_id, actor_type, actor_id, actor, action, resource_type, resource_id, source_ip, request_id, status)
      values (${record.auditId}, ${record.at}, ${record.organizationId}, ${record.projectId}, ${record.actorType},
        ${record.actorId}, ${record.actor}, ${record.action}, ${record.resourceType}, ${record.resourceId},
        ${record.sourceIp}, ${record.requestId}, ${record.status}))`;
  if (!record.firstReply) return audit;
  const { key, requestHash, reply, sealed } = record.firstReply;
  return sql`${audit},
    first_reply as (insert into idempotency_keys (actor_id, key, request_hash, reply, sealed)
      values (${record.actorId}, ${key}, ${requestHash}, ${reply}, ${sealed}))`;
}

export async function insertRecord(sql: Queryable, record: WriteRecord): Promise<void> {
  await sql`with ${recordCtes(sql, record)} select`;
}

export type FirstReply = { request_hash: string; reply: string; sealed: boolean; expired: boolean };

export async function readFirstReply(
  sql: Queryable,
  { actorId, key }: { actorId: string; key: string },
): Promise<FirstReply | undefined> {
  const [row] = await sql<FirstReply[]>`
    select request_hash, reply, sealed, created_at < now() - interval '24 hours' as expired
    from idempotency_keys where actor_id = ${actorId} and key = ${key}`;
  return row;
}

export async function removeExpiredReply(
  sql: Queryable,
  { actorId, key }: { actorId: string; key: string },
): Promise<void> {
  await sql`delete from idempotency_keys
    where actor_id = ${actorId} and key = ${key} and created_at < now() - interval '24 hours'`;
}

/** Inserts lines about refused requests, which have no transaction of their own. */
export async function insertAuditLines(sql: Queryable, lines: AuditLine[]): Promise<void> {
  if (lines.length === 0) return;
  await sql`insert into audit_logs ${sql(
    lines.map(
      ({
        auditId,
        organizationId,
        projectId,
        actorType,
        actorId,
        resourceType,
        resourceId,
        sourceIp,
        userAgent = '',
        attempts = 1,
        requestId,
        ...rest
      }) => ({
        id: auditId,
        organization_id: organizationId,
        project_id: projectId,
        actor_type: actorType,
        actor_id: actorId,
        resource_type: resourceType,
        resource_id: resourceId,
        source_ip: sourceIp,
        user_agent: userAgent,
        attempts,
        request_id: requestId,
        ...rest,
      }),
    ),
  )}`;
}
