import { listPrices } from '@gantry/db/queries/catalogue/prices';
import { listUsage, readLastClosedDay } from '@gantry/db/queries/usage/usage';
import { badRequest } from '@gantry/model/errors';
import { STORAGE_TYPES } from '@gantry/model/states';
import { visibleProjects } from '../auth/authorize.ts';
import { OrganizationParams, ProjectParams } from '../http/fields.ts';
import { route } from '../http/route.ts';
import { TenantPrices, Usage, UsageQuery } from './schema.ts';

const DEFAULT_DAYS = 30;
const MAX_DAYS = 366;
const DAY_MS = 86_400_000;

export const usageRoutes = [
  route({
    id: 'usage.list',
    method: 'get',
    path: '/organizations/{organization_id}/usage',
    summary:
      'List usage and cost of closed days, and later adjustments of them; a day is closed shortly after midnight UTC',
    access: { level: 'organization', role: 'read-only' },
    params: OrganizationParams,
    query: UsageQuery,
    reply: Usage,
    handle: async ({ sql, caller, scope, query, now }) => {
      const lastClosed = (await readLastClosedDay(sql)) ?? addDays(now.toISOString(), -1);
      const rows = await listUsage(sql, {
        ...choosePeriod({ start: query.start_date, end: query.end_date, lastClosed }),
        organizationId: scope.organizationId,
        visibleProjects: visibleProjects(caller, scope.organizationId) ?? null,
        projects: query.projects,
        resourceTypes: query.resource_types,
        regions: query.regions,
      });
      return {
        items: rows.map((row) => ({ ...row, adjusted_at: row.adjusted_at?.toISOString() ?? '' })),
      };
    },
  }),
  route({
    id: 'prices.list',
    method: 'get',
    path: '/projects/{project_id}/prices',
    summary: 'List the prices of VM types and disk types',
    access: { level: 'project', role: 'read-only' },
    // A tenant may see the prices before entering a payment method.
    unpaid: true,
    params: ProjectParams,
    reply: TenantPrices,
    handle: async ({ sql }) => ({
      items: (await listPrices(sql)).map((price) => ({
        ...price,
        billable_metric: metricOf(price.resource_type),
      })),
    }),
  }),
];

function metricOf(resourceType: string): 'gb_hours' | 'vm_seconds' {
  return STORAGE_TYPES.some((type) => type === resourceType) ? 'gb_hours' : 'vm_seconds';
}

type Period = { start: string | undefined; end: string | undefined; lastClosed: string };

function choosePeriod({ start, end, lastClosed }: Period): { startDate: string; endDate: string } {
  // If only a start after the last closed day is given, the period is that day, which is not
  // closed.
  const endDate = end ?? (start !== undefined && start > lastClosed ? start : lastClosed);
  const startDate = start ?? addDays(endDate, 1 - DEFAULT_DAYS);
  if (startDate > endDate) {
    throw badRequest([{ field: 'start_date', reason: 'must not be after end_date' }]);
  }
  if (startDate < addDays(endDate, 1 - MAX_DAYS)) {
    const reason = `must be at most ${MAX_DAYS} days before the end of the period, ${endDate}`;
    throw badRequest([{ field: 'start_date', reason }]);
  }
  return { startDate, endDate };
}

function addDays(date: string, days: number): string {
  const midnight = Date.parse(`${date.slice(0, 10)}T00:00:00Z`);
  return new Date(midnight + days * DAY_MS).toISOString().slice(0, 10);
}
