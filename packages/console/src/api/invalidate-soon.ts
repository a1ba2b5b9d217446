import type { QueryClient, QueryKey } from '@tanstack/react-query';

/** A burst of events, such as the stop of a hundred VMs, causes one request for each list. */
const WAIT_MS = 150;

const waiting = new Map<string, QueryKey>();

/** Marks queries as stale a moment later. Those that are shown are read again. */
export function invalidateSoon(queryClient: QueryClient, queryKey: QueryKey): void {
  if (waiting.size === 0) setTimeout(() => invalidateNow(queryClient), WAIT_MS);
  waiting.set(JSON.stringify(queryKey), queryKey);
}

function invalidateNow(queryClient: QueryClient): void {
  const keys = [...waiting.values()];
  waiting.clear();
  for (const queryKey of keys) void queryClient.invalidateQueries({ queryKey });
}
