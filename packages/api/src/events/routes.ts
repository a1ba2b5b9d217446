import { listEvents } from '@gantry/db/queries/operations/events';
import type { Access } from '../auth/authorize.ts';
import { callerId } from '../auth/caller.ts';
import { chargedOrganization } from '../auth/charged-organization.ts';
import { parseStreamId } from '../event-streams/stream-id.ts';
import { ProjectParams, page } from '../http/fields.ts';
import { type Request, route, type StreamClient } from '../http/route.ts';
import { AdminEventPage, AdminEventQuery, EventPage, EventQuery } from './schema.ts';
import { adminEventView, eventView } from './view.ts';

const OF_PROJECT = { level: 'project', role: 'read-only' } as const;
const OF_OPERATORS = { level: 'operator', role: 'read-only' } as const;

/** Operators see everything; a project sees what belongs to it. */
const streamFor =
  (access: Access) =>
  (
    { deps, caller, scope }: Request<unknown, unknown, unknown>,
    { lastEventId, ...client }: StreamClient,
  ) =>
    deps.eventStreams.open({
      ...client,
      access,
      sharer: chargedOrganization(caller, scope.organizationId) ?? callerId(caller),
      projectId: access.level === 'project' ? scope.projectId : null,
      resumeFrom: parseStreamId(lastEventId),
    });

export const eventRoutes = [
  route({
    id: 'events.list',
    method: 'get',
    path: '/projects/{project_id}/events',
    summary:
      'List what happened to resources without a request, newest first; or follow everything that ' +
      'happens, as server-sent events',
    access: OF_PROJECT,
    params: ProjectParams,
    query: EventQuery,
    reply: EventPage,
    stream: streamFor(OF_PROJECT),
    handle: async ({ sql, scope, query }) => {
      const rows = await listEvents(sql, {
        projectId: scope.projectId,
        resourceId: query.resource_id ?? null,
        type: query.type ?? null,
        before: query.page_token,
        limit: query.limit + 1,
      });
      return page(rows, query.limit, eventView);
    },
  }),
  route({
    id: 'admin-events.list',
    method: 'get',
    path: '/admin/events',
    summary:
      'List what happened to resources of all projects without a request, newest first; or follow ' +
      'everything that happens, as server-sent events',
    access: OF_OPERATORS,
    query: AdminEventQuery,
    reply: AdminEventPage,
    stream: streamFor(OF_OPERATORS),
    handle: async ({ sql, query }) => {
      const rows = await listEvents(sql, {
        projectId: query.project_id ?? null,
        resourceId: query.resource_id ?? null,
        type: query.type ?? null,
        before: query.page_token,
        limit: query.limit + 1,
      });
      return page(rows, query.limit, adminEventView);
    },
  }),
];
