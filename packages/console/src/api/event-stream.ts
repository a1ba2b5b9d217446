import { ApiError, ConnectionError, type StreamedEvent } from '@gantry/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent } from 'react';
import { applyAdminEvent } from './apply-admin-event.ts';
import { applyProjectEvent } from './apply-project-event.ts';
import { gantry } from './client.ts';

type Listener = (event: StreamedEvent) => void;

const listeners = new Set<Listener>();
/** A stream that was refused, for example because too many are open, is tried again after this time. */
const AGAIN_MS = 5_000;

/** Keeps the queries of a project current while the component is shown. */
export function useProjectStream(projectId: string): void {
  const queryClient = useQueryClient();
  useEffect(
    () =>
      follow({ project_id: projectId }, (event) =>
        applyProjectEvent(queryClient, projectId, event),
      ),
    [queryClient, projectId],
  );
}

/** Keeps the queries of operators current while the component is shown. */
export function useAdminStream(): void {
  const queryClient = useQueryClient();
  useEffect(() => follow({}, (event) => applyAdminEvent(queryClient, event)), [queryClient]);
}

/** Calls the listener with each event of the stream that the page follows. */
export function useStreamedEvents(listener: Listener): void {
  const latest = useEffectEvent(listener);
  useEffect(() => {
    const own: Listener = (event) => latest(event);
    listeners.add(own);
    return () => void listeners.delete(own);
  }, []);
}

/** Follows a stream until the returned function is called. A lost connection continues where it was. */
function follow(scope: { project_id?: string }, apply: Listener): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  let lastEventId: string | undefined;
  const run = async () => {
    while (!signal.aborted) {
      try {
        for await (const event of gantry.followEvents(scope, { signal, lastEventId })) {
          lastEventId = event.id;
          apply(event);
          for (const listener of listeners) listener(event);
        }
      } catch (error) {
        if (signal.aborted || isForbidden(error)) return;
        if (!(error instanceof ConnectionError)) lastEventId = undefined;
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    }
  };
  void run();
  return () => stop.abort();
}

/** The person may not see the project, or it does not exist. The screens say so. */
function isForbidden(error: unknown): boolean {
  return error instanceof ApiError && [403, 404].includes(error.status);
}
