import type { Schemas } from '@gantry/sdk';
import { queryOptions } from '@tanstack/react-query';
import { gantry } from './client.ts';
import { everyItem } from './every-item.ts';
import { projectKey } from './project-queries.ts';

/** Other projects use the same hosts, and the stream of a project says nothing about them. */
const AVAILABILITY_EVERY_MS = 10_000;

export const locations = () =>
  queryOptions({
    queryKey: ['locations'],
    queryFn: ({ signal }) => everyItem(gantry.locations.list({}, { signal })),
  });

/** The VM types and what each consists of. */
export const specs = (projectId: string) =>
  queryOptions({
    queryKey: projectKey(projectId, 'specs'),
    queryFn: ({ signal }) => everyItem(gantry.specs.list({ project_id: projectId }, { signal })),
  });

/** Which VM types could be placed now, and where. */
export const availabilities = (projectId: string) =>
  queryOptions({
    queryKey: projectKey(projectId, 'availabilities'),
    queryFn: ({ signal }) =>
      everyItem(gantry.availabilities.list({ project_id: projectId }, { signal })),
    refetchInterval: AVAILABILITY_EVERY_MS,
  });

export const images = (projectId: string) =>
  queryOptions({
    queryKey: projectKey(projectId, 'images'),
    queryFn: ({ signal }) => everyItem(gantry.images.list({ project_id: projectId }, { signal })),
  });

export const prices = (projectId: string) =>
  queryOptions({
    queryKey: projectKey(projectId, 'prices'),
    queryFn: ({ signal }) => everyItem(gantry.prices.list({ project_id: projectId }, { signal })),
  });

/** What the creation of a VM would cost and whether it fits, without creating it. The error is that of the creation. */
export const vmCheck = (projectId: string, body: Schemas['CreateVm']) =>
  queryOptions({
    queryKey: projectKey(projectId, 'vm-checks', JSON.stringify(body)),
    queryFn: ({ signal }) => gantry.vms.validate({ project_id: projectId, body }, { signal }),
    staleTime: 0,
    // A refused check is in the audit log, so it is not repeated until the form changes.
    refetchInterval: ({ state }) => (state.status === 'error' ? false : AVAILABILITY_EVERY_MS),
  });
