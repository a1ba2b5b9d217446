import type { Queryable, Sql, Transaction } from '@gantry/db/connect';

type TestPlacement = {
  vmId: string;
  hostId: string;
  /** The ids of the devices, or which devices of the host. The default is none. */
  devices?: readonly string[] | 'one-of-each-kind' | 'all';
};

/**
 * Places a VM as the scheduler does: with the locks of a placement in their order, an address for each
 * of its interfaces, and claims on devices. Tests that need an impossible placement write their own rows.
 */
export async function placeVm(sql: Queryable, placement: TestPlacement): Promise<void> {
  if (isPool(sql)) await sql.begin((tx) => place(tx, placement));
  else await place(sql, placement);
}

/** A connection pool can begin a transaction. A transaction can not. */
function isPool(sql: Queryable): sql is Sql {
  return 'begin' in sql;
}

async function place(tx: Queryable, { vmId, hostId, devices = [] }: TestPlacement): Promise<void> {
  await tx`select from vms where id = ${vmId} for update`;
  await tx`select from disks where id in
    (select disk_id from disk_attachments where vm_id = ${vmId}) order by id for share`;
  await tx`select from hosts where id = ${hostId} for share`;
  await tx`select from networks where id in
    (select network_id from network_interfaces where vm_id = ${vmId}) for share`;
  await tx`select from host_revisions where host_id = ${hostId}
    or host_id in (select hosts_with_rules_on(${[vmId]}::uuid[]))
    order by host_id for update`;
  await tx`insert into address_claims (network_interface_id, subnet_id, address)
    select n.id, n.subnet_id, 1 + coalesce((select max(address) from address_claims where subnet_id = s.id),
      host(network(s.cidr))::inet + 9)
    from network_interfaces n join subnets s on s.id = n.subnet_id where n.vm_id = ${vmId}
      and not exists (select from address_claims where network_interface_id = n.id)`;
  await tx`insert into placements (vm_id, host_id, epoch) values (${vmId}, ${hostId}, 1)`;
  for (const id of typeof devices === 'string' ? await choose(tx, hostId, devices) : devices)
    await tx`insert into device_claims (device_id, vm_id) values (${id}, ${vmId})`;
  await tx`update vms set placed = true where id = ${vmId}`;
}

async function choose(
  tx: Queryable,
  hostId: string,
  which: 'one-of-each-kind' | 'all',
): Promise<string[]> {
  const free = await tx<{ id: string; kind: string }[]>`
    select id, kind from devices d where host_id = ${hostId} and state = 'ready'
      and not exists (select from device_claims where device_id = d.id) order by kind, pci_address`;
  const isFirst = ({ kind }: { kind: string }, index: number) => kind !== free[index - 1]?.kind;
  return free.filter((device, i) => which === 'all' || isFirst(device, i)).map(({ id }) => id);
}

/** Frees the devices of VMs, as after a stop. The private addresses stay. */
export async function unplaceVms(sql: Sql, vmIds: readonly string[]): Promise<void> {
  await sql.begin((tx) => Promise.all(freeDevices(tx, vmIds)));
}

export function freeDevices(tx: Transaction, vmIds: readonly string[]) {
  const ids = [...vmIds];
  return [
    tx`delete from device_claims where vm_id = any(${ids}::uuid[])`,
    tx`delete from placements where vm_id = any(${ids}::uuid[])`,
    tx`update vms set placed = false where id = any(${ids}::uuid[])`,
  ];
}
