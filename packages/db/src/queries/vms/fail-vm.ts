import type { Queryable } from '../../connect.ts';
import { failOperation, type OperationFailure } from '../operations/operations.ts';

/**
 * No host can bring the VM up as it was asked to: its operation ends as failed, and so does the
 * asking. A VM that never ran is removed. One that ran before is what it was (`keep`), or in error
 * where a host tried and left something half built (`error`). Only what was wanted at
 * `generation` fails: false, and nothing changes, where something else is wanted by now.
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
