import { listEvents } from '@gantry/db/queries/operations/events';
import { ProjectParams, page } from '../http/fields.ts';
import { route } from '../http/route.ts';
import { EventPage, EventQuery } from './schema.ts';
import { eventView } from './view.ts';

export const eventRoutes = [
  route({
    id: 'events.list',
    method: 'get',
    path: '/projects/{project_id}/events',
    summary: 'List what happened to resources without a request, newest first',
    access: { level: 'project', role: 'read-only' },
    params: ProjectParams,
    query: EventQuery,
    reply: EventPage,
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
];
