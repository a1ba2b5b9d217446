import { QueryClient } from '@tanstack/react-query';
import { connection } from './connection.ts';

/** The SDK repeats requests itself. The event stream says when something is stale, so nothing else does. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { retry: false, staleTime: Number.POSITIVE_INFINITY, refetchOnWindowFocus: false },
    mutations: { retry: false },
  },
});

// What failed or was missed while the API was away is read again.
connection.subscribe((next) => {
  if (next === 'online') void queryClient.invalidateQueries();
});
