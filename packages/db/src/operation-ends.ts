import type { OperationName, ResourceType } from '@gantry/model/states';
import type { Queryable, Sql } from './connect.ts';

/**
 * Tells the owner of a pool which operations have ended, for its log and its traces. The ends of a
 * transaction are passed on after its commit, and forgotten if it is rolled back. If the process dies in
 * between, the end is in the database and not in the log.
 */
export type OperationEnd = {
  id: string;
  name: OperationName;
  resource_type: ResourceType;
  resource_id: string;
  project_id: string;
  state: 'SUCCEEDED' | 'FAILED';
  /** The error code of a failed one. */
  code: string | null;
  started_at: Date;
  completed_at: Date;
};

export type OnOperationEnd = (end: OperationEnd) => void;

const listeners = new WeakMap<object, OnOperationEnd>();
const pending = new WeakMap<object, OperationEnd[]>();

/** A pool has one listener. */
export function watchOperationEnds(sql: Sql, onEnd: OnOperationEnd): void {
  listeners.set(sql, onEnd);
}

/** `sql` is the transaction in which the operations ended, or the pool if there is none. */
export function noteOperationEnds(sql: Queryable, ends: readonly OperationEnd[]): void {
  const listener = listeners.get(sql);
  if (listener) for (const end of ends) listener(end);
  else if (ends.length > 0) pending.set(sql, [...(pending.get(sql) ?? []), ...ends]);
}

/** Called after the commit of the transaction. */
export function passOperationEnds(sql: Sql, tx: Queryable): void {
  const ends = pending.get(tx);
  const listener = ends && listeners.get(sql);
  if (listener) for (const end of ends) listener(end);
}

/** Returns the end as fields of a log line. */
export function fieldsOfEnd(end: OperationEnd) {
  return {
    operation_id: end.id,
    operation: end.name,
    [RESOURCE_FIELDS[end.resource_type]]: end.resource_id,
    state: end.state,
    code: end.code ?? undefined,
    ms: end.completed_at.getTime() - end.started_at.getTime(),
  };
}

const RESOURCE_FIELDS: Record<ResourceType, string> = {
  vm: 'vm_id',
  disk: 'disk_id',
  snapshot: 'snapshot_id',
  backup: 'backup_id',
  image: 'image_id',
  'vpc-firewall-rule': 'firewall_rule_id',
};
