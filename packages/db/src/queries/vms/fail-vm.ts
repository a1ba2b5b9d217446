import type { Queryable } from '../../connect.ts';
import { failOperation, type OperationFailure } from '../operations/operations.ts';

/**
 * Fails the operation of a VM that no host can start as requested. A VM that never ran is removed.
 * A VM that ran before keeps its state (`keep`), or is in error if a host left it half built
 * (`error`). Returns false and changes nothing if the VM's generation is not `generation` any more.
 */
export async function failVm(
  sql: Queryable,
  {
    vmId,
    generation,
    failure,
    after,
  }: {
    vmId: string;
    generation: number | string;
    failure: OperationFailure;
    after: 'keep' | 'error';
  },
): Promise<boolean> {
  const { count } = await sql`update vms set observed_generation = generation, updated_at = now(),
      abandoned = abandoned or observed_state = 'none',
      observed_state = case when observed_state <> 'none' and ${after === 'error'} then 'failed' else observed_state end
    where id = ${vmId} and generation = ${generation} and desired_state = 'running' and not abandoned`;
  if (count === 0) return false;
  await failOperation(sql, { resourceId: vmId, failure });
  return true;
}
