import type { Schemas } from '@gantry/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { gantry } from '../../api/client.ts';
import { projectKey } from '../../api/project-queries.ts';

/**
 * Waits for the operation of a change of disks, so that the dialog can show why it failed, and reads the disks and
 * VMs again.
 */
export function useDiskChange(projectId: string) {
  const queryClient = useQueryClient();
  return async (request: Promise<Schemas['OperationReply']>): Promise<void> => {
    try {
      const { operation } = await request;
      await gantry.waitForOperation({ project_id: projectId, operation });
    } finally {
      await queryClient.invalidateQueries({ queryKey: projectKey(projectId, 'disks') });
      await queryClient.invalidateQueries({ queryKey: projectKey(projectId, 'vms') });
    }
  };
}
