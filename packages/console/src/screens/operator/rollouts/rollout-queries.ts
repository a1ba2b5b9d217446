import { queryOptions } from '@tanstack/react-query';
import { adminKey } from '../../../api/admin-queries.ts';
import { gantry } from '../../../api/client.ts';
import { everyItem } from '../../../api/every-item.ts';

export const allRollouts = () =>
  queryOptions({
    queryKey: adminKey('rollouts', 'all'),
    queryFn: ({ signal }) => everyItem(gantry.adminRollouts.list({}, { signal })),
  });

export const oneRollout = (rolloutId: string) =>
  queryOptions({
    queryKey: adminKey('rollouts', rolloutId),
    queryFn: ({ signal }) => gantry.adminRollouts.get({ rollout_id: rolloutId }, { signal }),
  });

export const hostsOfRollout = (rolloutId: string) =>
  queryOptions({
    queryKey: adminKey('rollouts', rolloutId, 'hosts'),
    queryFn: ({ signal }) =>
      everyItem(gantry.adminRollouts.hosts({ rollout_id: rolloutId }, { signal })),
  });
