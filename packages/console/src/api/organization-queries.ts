import { queryOptions } from '@tanstack/react-query';
import { gantry } from './client.ts';
import { everyItem } from './every-item.ts';

export type Period = { start_date: string; end_date: string };

/** Usage and cost of closed days. */
export const usageOf = (organizationId: string, period: Period) =>
  queryOptions({
    queryKey: ['organizations', organizationId, 'usage', period],
    queryFn: ({ signal }) =>
      everyItem(gantry.usage.list({ organization_id: organizationId, ...period }, { signal })),
  });

export const members = (organizationId: string) =>
  queryOptions({
    queryKey: ['organizations', organizationId, 'members'],
    queryFn: ({ signal }) =>
      everyItem(gantry.members.list({ organization_id: organizationId }, { signal })),
  });
