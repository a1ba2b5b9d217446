import type { Queryable } from '../../connect.ts';
import { ruleOf } from '../hosts/host-specs.ts';
import type { SpecRuleRow } from '../hosts/known-rules.ts';
import type { FirewallRuleRow } from './firewall-rules.ts';

export type TracedInterfaceRow = {
  network_id: string;
  /** Null before the VM is placed for the first time. */
  address: string | null;
  public_address: string | null;
};

export async function readVmInterface(
  sql: Queryable,
  { projectId, vmId }: { projectId: string; vmId: string },
): Promise<TracedInterfaceRow | undefined> {
  const [row] = await sql<TracedInterfaceRow[]>`
    select n.network_id, host(c.address) as address, host(a.address) as public_address
    from vms v join network_interfaces n on n.vm_id = v.id
    left join address_claims c on c.network_interface_id = n.id
    left join public_addresses a on a.network_interface_id = n.id
    where v.project_id = ${projectId} and v.id = ${vmId} order by n.name limit 1`;
  return row;
}

export type TracedAddressRow = {
  network_id: string;
  address: string;
  public_address: string | null;
  is_gateway: boolean;
  named_by: 'private' | 'public';
};

/** Returns whether an address is in a subnet of the project, is public on a VM, or neither. */
export async function readProjectAddress(
  sql: Queryable,
  { projectId, address }: { projectId: string; address: string },
): Promise<TracedAddressRow | undefined> {
  const [row] = await sql<TracedAddressRow[]>`
    select s.network_id, ${address}::text as address, host(a.address) as public_address,
      host(s.cidr::inet + 1) = ${address} as is_gateway, 'private' as named_by
    from subnets s
    left join address_claims c on c.subnet_id = s.id and c.address = ${address}::inet
    left join public_addresses a on a.network_interface_id = c.network_interface_id
    where s.project_id = ${projectId} and s.cidr >>= ${address}::inet
    union all
    select n.network_id, host(c.address), host(a.address), false, 'public'
    from public_addresses a join network_interfaces n on n.id = a.network_interface_id
    join vms v on v.id = n.vm_id join address_claims c on c.network_interface_id = n.id
    where v.project_id = ${projectId} and a.address = ${address}::inet
    limit 1`;
  return row;
}

export type TracedRuleRow = SpecRuleRow & Pick<FirewallRuleRow, 'name' | 'state'>;

/**
 * Lists the rules of these networks as hosts receive them, including rules that are being deleted.
 */
export async function listTracedRules(
  sql: Queryable,
  { projectId, networkIds }: { projectId: string; networkIds: string[] },
): Promise<TracedRuleRow[]> {
  const rows = await sql<(Pick<TracedRuleRow, 'name' | 'state'> & { rule: SpecRuleRow })[]>`
    select f.name, f.state, ${ruleOf(sql)} as rule from firewall_rules f
    where f.project_id = ${projectId} and f.network_id = any(${networkIds}::uuid[]) order by f.id`;
  return rows.map(({ rule, name, state }) => ({ ...rule, name, state }));
}
