import type { StreamedEvent } from '@gantry/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { fleet } from '../../../api/admin-queries.ts';
import { gantry } from '../../../api/client.ts';
import { useStreamedEvents } from '../../../api/event-stream.ts';
import { hostsOfEvent, replaceHosts } from './fleet-changes.ts';
import type { FleetHost } from './layout.ts';

/** A burst of events, such as the start of a hundred VMs, causes one request. */
const WAIT_MS = 150;
/** More hosts than this are read with all the others, because their ids would not fit into an address. */
const MOST_AT_ONCE = 100;

/** Returns all hosts with their GPUs, and keeps them current by reading again what the event stream names. */
export function useFleet() {
  const queryClient = useQueryClient();
  const query = useQuery(fleet());
  const stale = useRef(new Set<string>());
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);

  const readStale = async () => {
    timer.current = undefined;
    const ids = [...stale.current];
    stale.current.clear();
    const { queryKey } = fleet();
    if (ids.length > MOST_AT_ONCE) return queryClient.invalidateQueries({ queryKey });
    try {
      const { hosts } = await gantry.adminFleet.get({ host_ids: ids.join(',') });
      queryClient.setQueryData<FleetHost[]>(
        queryKey,
        (before) => before && replaceHosts(before, ids, hosts),
      );
    } catch {
      // The whole fleet is read when the connection is back.
      await queryClient.invalidateQueries({ queryKey });
    }
  };
  useStreamedEvents((event: StreamedEvent) => {
    for (const id of hostsOfEvent(event, query.data ?? [])) stale.current.add(id);
    if (stale.current.size > 0) timer.current ??= setTimeout(() => void readStale(), WAIT_MS);
  });
  return query;
}
