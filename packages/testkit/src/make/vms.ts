import type { Sql } from '@gantry/db/connect';
import { newId } from '@gantry/model/ids';
import { freeDevices } from './placements.ts';

type VmPlan = { projectId: string; location?: string; type?: string };

/** Wanted, as the api writes them: with an OS disk, an interface and an unfinished operation. Oldest first. */
export async function addVms(
  sql: Sql,
  count: number,
  { projectId, location = 'eu-north-a', type = 'a40.1x' }: VmPlan,
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId()).sort();
  await sql.begin((tx) =>
    Promise.all([
      tx`insert into vms (id, project_id, name, type, location, image_id, ssh_public_key)
        select id, ${projectId}, 'vm-' || id, ${type}, ${location}, (select id from images where name = 'debian-12'), 'key'
        from unnest(${ids}::uuid[]) as v (id)`,
      tx`insert into disks (id, project_id, kind, name, type, size, size_gib, location, block_size, serial_number)
        select id, ${projectId}, 'os', 'vm-' || id, 'persistent-ssd', '128GiB', 128, ${location}, 0, id
        from unnest(${ids}::uuid[]) as v (id)`,
      tx`insert into disk_attachments (disk_id, vm_id, attachment_type, mode, exclusive)
        select id, id, 'os', 'read-write', true from unnest(${ids}::uuid[]) as v (id)`,
      tx`insert into network_interfaces (id, vm_id, name, network_id, subnet_id, mac_address)
        select v.id, v.id, 'eth0', s.network_id, s.id, v.id::text from unnest(${ids}::uuid[]) as v (id), lateral
          (select id, network_id from subnets where project_id = ${projectId} and location = ${location} limit 1) s`,
      tx`insert into operations (id, project_id, resource_type, resource_id, name, state, request, started_at, deadline_at)
        select id, ${projectId}, 'vm', id, 'CREATE', 'IN_PROGRESS', '{}', now(), now() + interval '10 minutes'
        from unnest(${ids}::uuid[]) as v (id)`,
    ]),
  );
  return ids;
}

/** Nothing is left of these: their devices are free again. */
export async function removeVms(sql: Sql, vmIds: readonly string[]): Promise<void> {
  const ids = [...vmIds];
  await sql.begin((tx) =>
    Promise.all([
      tx`update public_addresses p set network_interface_id = null, released_at = now(), last_project_id = v.project_id
        from vms v where v.id = p.network_interface_id and v.id = any(${ids}::uuid[])`,
      tx`delete from address_claims where network_interface_id = any(${ids}::uuid[])`,
      ...freeDevices(tx, ids),
      tx`delete from vms where id = any(${ids}::uuid[])`,
      tx`delete from disks where id = any(${ids}::uuid[])`,
    ]),
  );
}

/** The VM is wanted again, after it was stopped and unplaced. */
export async function startVms(sql: Sql, vmIds: readonly string[]): Promise<void> {
  await sql`update vms set observed_state = 'stopped', observed_generation = generation where id = any(${[...vmIds]}::uuid[])`;
  await sql`update operations set state = 'SUCCEEDED', completed_at = now()
    where resource_id = any(${[...vmIds]}::uuid[]) and state = 'IN_PROGRESS'`;
  for (const id of vmIds) {
    await sql`update vms set power_action = 'START', generation = generation + 1 where id = ${id}`;
    await sql`insert into operations (id, project_id, resource_type, resource_id, name, state, request, started_at, deadline_at)
      select ${newId()}, project_id, 'vm', id, 'START', 'IN_PROGRESS', '{}', now(), now() + interval '10 minutes'
      from vms where id = ${id}`;
  }
}
