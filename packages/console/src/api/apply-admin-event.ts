import type { StreamedEvent } from '@gantry/sdk';
import type { QueryClient } from '@tanstack/react-query';
import { adminKey } from './admin-queries.ts';
import { invalidateSoon } from './invalidate-soon.ts';

/** The queries of operators that an event of each type makes stale. */
const STALE_BY_TYPE: Record<string, string[]> = {
  host: ['hosts'],
  devices: ['hosts', 'devices'],
  vm: ['vms', 'hosts'],
  operation: ['operations'],
  event: ['events'],
  rollout: ['rollouts'],
  rollout_host: ['rollouts'],
};

/** Brings the cached queries of operators up to date with an event of their stream. */
export function applyAdminEvent(queryClient: QueryClient, { type }: StreamedEvent): void {
  if (type === 'ready' || type === 'reset') invalidateSoon(queryClient, adminKey());
  for (const name of STALE_BY_TYPE[type] ?? []) invalidateSoon(queryClient, adminKey(name));
}
