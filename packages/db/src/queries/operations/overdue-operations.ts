import type { OperationName, ResourceType } from '@gantry/model/states';
import type { Queryable } from '../../connect.ts';
import type { BuildFailure } from '../../schema/vms.ts';

export type OverdueOperation = {
  id: string;
  name: OperationName;
  resource_type: ResourceType;
  resource_id: string;
};

export async function listOverdueOperations(
  sql: Queryable,
  limit: number,
): Promise<OverdueOperation[]> {
  return await sql<OverdueOperation[]>`
    select id, name, resource_type, resource_id from operations
    where state = 'IN_PROGRESS' and deadline_at < now() order by deadline_at limit ${limit}`;
}

type VmOfOperation = {
  generation: string;
  placed: boolean;
  relocating: boolean;
  build_failure: BuildFailure | null;
};

/** Returns undefined if the VM is gone. */
export async function lockVmOfOperation(
  sql: Queryable,
  vmId: string,
): Promise<VmOfOperation | undefined> {
  const [row] = await sql<VmOfOperation[]>`
    select generation, placed, relocating, build_failure from vms where id = ${vmId} for update`;
  return row;
}

export async function isUnfinished(sql: Queryable, operationId: string): Promise<boolean> {
  const rows =
    await sql`select from operations where id = ${operationId} and state = 'IN_PROGRESS'`;
  return rows.length > 0;
}

/** Lists the names of hosts that have not confirmed the rule or its removal. */
export async function listHostsPendingRule(sql: Queryable, ruleId: string): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select h.name from firewall_rule_hosts o join hosts h on h.id = o.host_id
    where o.rule_id = ${ruleId} order by h.name`;
  return rows.map(({ name }) => name);
}
