import { queryOptions } from '@tanstack/react-query';
import { gantry } from './client.ts';
import { everyItem } from './every-item.ts';

/** The key of a query of operators; without names, of all of them. */
export const adminKey = (...names: string[]) => ['admin', ...names];

export const allHosts = () =>
  queryOptions({
    queryKey: adminKey('hosts', 'all'),
    queryFn: ({ signal }) => everyItem(gantry.adminHosts.list({}, { signal })),
  });

/** All hosts with their GPUs, in the short form of the fleet map. */
export const fleet = () =>
  queryOptions({
    queryKey: adminKey('fleet'),
    queryFn: async ({ signal }) => (await gantry.adminFleet.get({}, { signal })).hosts,
  });
