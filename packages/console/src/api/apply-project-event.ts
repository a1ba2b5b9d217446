import type { Schemas, StreamedEvent } from '@gantry/sdk';
import type { QueryClient } from '@tanstack/react-query';
import { invalidateSoon } from './invalidate-soon.ts';
import { operationSteps, projectKey, type Step } from './project-queries.ts';

type Vm = Schemas['Vm'];
type VmChange = { id: string; name: string; state: Vm['state']; deleted: boolean };
type OperationChange = Step & { operation_id: string; resource_type: string };

/** The queries that an operation on a resource of a type makes stale. */
const STALE_BY_RESOURCE: Record<string, string[]> = {
  vm: ['vm-operations', 'vms'],
  disk: ['disks', 'disk-operations'],
  'vpc-firewall-rule': ['firewall-rules'],
};

/** Brings the cached queries of a project up to date with an event of its stream. */
export function applyProjectEvent(
  queryClient: QueryClient,
  projectId: string,
  { type, data }: StreamedEvent,
): void {
  const invalidate = (...names: string[]) => {
    for (const name of names) invalidateSoon(queryClient, projectKey(projectId, name));
  };
  if (type === 'ready' || type === 'reset') {
    invalidateSoon(queryClient, projectKey(projectId));
  } else if (type === 'vm') {
    showVm(queryClient, projectId, data as VmChange);
    invalidate('vms', 'availabilities', 'quotas', 'disks', 'public-addresses');
  } else if (type === 'operation') {
    const change = data as OperationChange;
    addStep(queryClient, projectId, change);
    invalidate(...(STALE_BY_RESOURCE[change.resource_type] ?? []));
  } else if (type === 'event') {
    invalidate('events');
  }
}

/** Shows the new state at once. What the event does not have is read a moment later. */
function showVm(
  queryClient: QueryClient,
  projectId: string,
  { id, name, state, deleted }: VmChange,
) {
  queryClient.setQueriesData<Vm[]>({ queryKey: projectKey(projectId, 'vms', 'all') }, (vms) =>
    deleted
      ? vms?.filter((vm) => vm.id !== id)
      : vms?.map((vm) => (vm.id === id ? { ...vm, name, state } : vm)),
  );
  queryClient.setQueryData<Vm>(projectKey(projectId, 'vms', id), (vm) =>
    vm && !deleted ? { ...vm, name, state } : vm,
  );
}

function addStep(queryClient: QueryClient, projectId: string, change: OperationChange) {
  const { queryKey } = operationSteps(projectId, change.operation_id);
  queryClient.setQueryData<Step[]>(queryKey, (steps = []) =>
    steps.some(({ step, created_at }) => step === change.step && created_at === change.created_at)
      ? steps
      : [...steps, change],
  );
}
