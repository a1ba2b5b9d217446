import { queryOptions } from '@tanstack/react-query';
import { adminKey } from '../../../api/admin-queries.ts';
import { gantry } from '../../../api/client.ts';
import { everyItem } from '../../../api/every-item.ts';

export const fleetSummary = () =>
  queryOptions({
    queryKey: adminKey('summary'),
    queryFn: ({ signal }) => gantry.adminFleet.summary({}, { signal }),
  });

/** A scheduler stores a sample every five minutes. */
const SAMPLE_MS = 5 * 60_000;

export const capacityHistory = (hours: number) =>
  queryOptions({
    queryKey: adminKey('capacity-history', String(hours)),
    queryFn: ({ signal }) => everyItem(gantry.adminFleet.history({ hours }, { signal })),
    refetchInterval: SAMPLE_MS,
  });

const SHOWN = 10;

export const failedOperations = () =>
  queryOptions({
    queryKey: adminKey('operations', 'failed'),
    queryFn: async ({ signal }) =>
      (await gantry.adminOperations.list({ state: 'FAILED', limit: SHOWN }, { signal })).items,
  });

export const lastEvents = () =>
  queryOptions({
    queryKey: adminKey('events', 'last'),
    queryFn: async ({ signal }) =>
      (await gantry.adminEvents.list({ limit: SHOWN }, { signal })).items,
  });
