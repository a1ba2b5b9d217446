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

/** The cost of a running VM grows all the time, and no event reports it. */
const USAGE_EVERY_MS = 60_000;

/** How long a VM has run and what it has cost. An event about the VM makes it stale. */
export const vmUsage = (projectId: string, vmId: string) =>
  queryOptions({
    queryKey: projectKey(projectId, 'vms', vmId, 'usage'),
    queryFn: ({ signal }) => gantry.vmUsage.get({ project_id: projectId, vm_id: vmId }, { signal }),
    refetchInterval: USAGE_EVERY_MS,
  });

/** The last operations on a VM, newest first. */
export const vmOperations = (projectId: string, vmId: string) =>
  queryOptions({
    queryKey: projectKey(projectId, 'vm-operations', vmId),
    queryFn: async ({ signal }) => {
      const input = { project_id: projectId, resource_id: vmId, limit: 100 };
      return (await gantry.vmOperations.list(input, { signal })).items;
    },
  });

/** What happened to a resource without a request, newest first. */
export const eventsOf = (projectId: string, resourceId: string) =>
  queryOptions({
    queryKey: projectKey(projectId, 'events', resourceId),
    queryFn: async ({ signal }) => {
      const input = { project_id: projectId, resource_id: resourceId, limit: 100 };
      return (await gantry.events.list(input, { signal })).items;
    },
  });

/** What the serial console of a VM printed last. */
export const serialLog = (projectId: string, vmId: string) =>
  queryOptions({
    queryKey: projectKey(projectId, 'serial-log', vmId),
    queryFn: ({ signal }) =>
      gantry.serialLogs.get({ project_id: projectId, vm_id: vmId }, { signal }),
    staleTime: 0,
  });

export const sshKeys = (projectId: string) =>
  queryOptions({
    queryKey: projectKey(projectId, 'ssh-keys'),
    queryFn: ({ signal }) => everyItem(gantry.sshKeys.list({ project_id: projectId }, { signal })),
  });

export const networks = (projectId: string) =>
  queryOptions({
    queryKey: projectKey(projectId, 'networks'),
    queryFn: ({ signal }) => everyItem(gantry.networks.list({ project_id: projectId }, { signal })),
  });

export const subnets = (projectId: string) =>
  queryOptions({
    queryKey: projectKey(projectId, 'subnets'),
    queryFn: ({ signal }) => everyItem(gantry.subnets.list({ project_id: projectId }, { signal })),
  });

export const allDisks = (projectId: string) =>
  queryOptions({
    queryKey: projectKey(projectId, 'disks'),
    queryFn: ({ signal }) => everyItem(gantry.disks.list({ project_id: projectId }, { signal })),
  });

/** No event reports a reserved address, so each screen reads them again when it is opened. */
export const reservedAddresses = (projectId: string) =>
  queryOptions({
    queryKey: projectKey(projectId, 'public-addresses'),
    queryFn: ({ signal }) =>
      everyItem(gantry.publicAddresses.list({ project_id: projectId }, { signal })),
    staleTime: 0,
  });

export const firewallRules = (projectId: string) =>
  queryOptions({
    queryKey: projectKey(projectId, 'firewall-rules'),
    queryFn: ({ signal }) =>
      everyItem(gantry.firewallRules.list({ project_id: projectId }, { signal })),
  });

export const accessKeys = (projectId: string) =>
  queryOptions({
    queryKey: projectKey(projectId, 'access-keys'),
    queryFn: ({ signal }) =>
      everyItem(gantry.accessKeys.list({ project_id: projectId }, { signal })),
  });

/** The steps of an operation that the page has seen. They are not stored, and are never requested. */
export const operationSteps = (projectId: string, operationId: string) =>
  queryOptions({
    queryKey: projectKey(projectId, 'steps', operationId),
    queryFn: (): Step[] => [],
    enabled: false,
  });
