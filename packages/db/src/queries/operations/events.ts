import { newId } from '@gantry/model/ids';
import type { EventType, ResourceType } from '@gantry/model/states';
import type { Queryable } from '../../connect.ts';
import { LAST_ID } from '../page-bounds.ts';

/** What happened to tenants' resources without a request. */

export type NewEvent = {
  projectId: string;
  resourceType: ResourceType;
  resourceId: string;
  type: EventType;
  message: string;
};

/** Inserts all events with one statement, because the loss of a host concerns many VMs. */
export async function insertEvents(sql: Queryable, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  await sql`insert into events (id, project_id, resource_type, resource_id, type, message)
    select * from unnest(
      ${events.map(() => newId())}::uuid[], ${events.map(({ projectId }) => projectId)}::uuid[],
      ${events.map(({ resourceType }) => resourceType)}::text[],
      ${events.map(({ resourceId }) => resourceId)}::uuid[],
      ${events.map(({ type }) => type)}::text[], ${events.map(({ message }) => message)}::text[])`;
}

export type EventRow = {
  id: string;
  project_id: string;
  resource_type: ResourceType;
  resource_id: string;
  type: EventType;
  message: string;
  created_at: Date;
};

export type EventFilter = {
  /** Null: all projects. */
  projectId: string | null;
  resourceId: string | null;
  type: EventType | null;
  /** The last id of the previous page. Lists have the newest first. */
  before: string | null;
  limit: number;
};

export async function listEvents(sql: Queryable, filter: EventFilter): Promise<EventRow[]> {
  // The project is part of the statement only if there is one, so that each variant uses its index.
  const inProject = filter.projectId === null ? sql`true` : sql`project_id = ${filter.projectId}`;
  return await sql<EventRow[]>`
    select id, project_id, resource_type, resource_id, type, message, created_at from events
    where ${inProject} and id < ${filter.before ?? LAST_ID}
      and (${filter.resourceId}::uuid is null or resource_id = ${filter.resourceId})
      and (${filter.type}::text is null or type = ${filter.type})
    order by id desc limit ${filter.limit}`;
}
