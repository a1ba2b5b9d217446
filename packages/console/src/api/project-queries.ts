import { queryOptions } from '@tanstack/react-query';
import { gantry } from './client.ts';
import { everyItem } from './every-item.ts';

/** The key of a query about a project; without names, of all queries about it. */
export const projectKey = (projectId: string, ...names: string[]) => [
  'projects',
  projectId,
  ...names,
];

/** A step of an operation, as the event stream reports it. */
export type Step = {
  step: string;
  state: string;
  operation_name: string;
  resource_id: string;
  code: string;
  message: string;
  created_at: string;
};

export const allVms = (projectId: string) =>
  queryOptions({
    queryKey: projectKey(projectId, 'vms', 'all'),
    queryFn: ({ signal }) => everyItem(gantry.vms.list({ project_id: projectId }, { signal })),
  });

export const oneVm = (projectId: string, vmId: string) =>
  queryOptions({
    queryKey: projectKey(projectId, 'vms', vmId),
    queryFn: ({ signal }) => gantry.vms.get({ project_id: projectId, vm_id: vmId }, { signal }),
  });

/** The steps of an operation that the page has seen. They are not stored, and are never requested. */
export const operationSteps = (projectId: string, operationId: string) =>
  queryOptions({
    queryKey: projectKey(projectId, 'steps', operationId),
    queryFn: (): Step[] => [],
    enabled: false,
  });
