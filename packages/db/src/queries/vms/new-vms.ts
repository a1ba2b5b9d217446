import type { OnHostFailure } from '@gantry/model/states';
import type { Queryable } from '../../connect.ts';
import { selectNamedImage } from '../images/project-images.ts';
import { insertOperationCte, type NewOperation } from '../operations/operations.ts';
import { recordCtes, type WriteRecord } from '../operations/records.ts';

/** The body of the request that creates a VM. */
export type VmRequest = {
  name: string;
  type: string;
  location: string;
  image: string;
  ssh_public_key?: string | undefined;
  ssh_keys?: string[] | undefined;
  startup_script?: string | undefined;
  shutdown_script?: string | undefined;
  user_data?: string | undefined;
  network_interfaces?: InterfaceRequest[] | undefined;
  disks?: object[] | undefined;
  virtualization_features?: { nested_virtualization: boolean } | undefined;
  on_host_failure?: OnHostFailure | undefined;
  tags?: Record<string, string> | undefined;
};

/** Without a network and a subnet, the interface is in the default network. */
export type InterfaceRequest = {
  network_id?: string | undefined;
  subnet_id?: string | undefined;
  public_ipv4: { type: 'none' | 'dynamic' | 'reserved'; id?: string | undefined };
};

export type NewVm = {
  id: string;
  projectId: string;
  request: VmRequest;
  at: Date;
  osDisk: { id: string; size: string; sizeGib: number; serialNumber: string };
  networkInterface: { id: string; macAddress: string };
};

/**
 * Inserts a VM with its OS disk, interface, operation and records in one statement, which takes one
 * round trip. If the type, location or image is not available, a column that must not be null is
 * null and the whole statement fails; `readVmRefusal` then returns the reason.
 */
export async function insertVm(
  sql: Queryable,
  { vm, operation, record }: { vm: NewVm; operation: NewOperation; record: WriteRecord },
): Promise<void> {
  const { request } = vm;
  await sql`
    with subnet as (${selectSubnet(sql, vm)} order by s.id limit 1),
      image as materialized (${selectNamedImage(sql, { projectId: vm.projectId, ...request })}),
      vm as (insert into vms
        (id, project_id, name, type, location, image_id, ssh_public_key, startup_script, shutdown_script, tags, ssh_keys, user_data,
          on_host_failure, created_at, updated_at)
        values (${vm.id}, ${vm.projectId}, ${request.name},
          (select name from vm_types where name = ${request.type} and not retired),
          (select location from vm_type_locations where vm_type = ${request.type} and location = ${request.location}),
          (select id from image),
          ${request.ssh_public_key ?? ''}, ${request.startup_script ?? ''}, ${request.shutdown_script ?? ''},
          ${JSON.stringify(request.tags ?? {})}::text::jsonb, ${request.ssh_keys ?? []}::text[],
          ${request.user_data ?? ''}, ${request.on_host_failure ?? 'leave'}, ${vm.at}, ${vm.at})),
      pool as materialized (select choose_os_pool((select id from image), ${request.location}, ${vm.osDisk.sizeGib}::int) as id),
      os_disk as (insert into disks
        (id, project_id, kind, name, type, size, size_gib, location, block_size, serial_number, created_at, updated_at,
          pool_id, wants_key)
        values (${vm.osDisk.id}, ${vm.projectId}, 'os', ${request.name}, 'persistent-ssd', ${vm.osDisk.size},
          ${vm.osDisk.sizeGib}, ${request.location}, 0, ${vm.osDisk.serialNumber}, ${vm.at}, ${vm.at},
          (select id from pool), (select id is not null from pool))),
      attachment as (insert into disk_attachments (disk_id, vm_id, attachment_type, mode, exclusive)
        values (${vm.osDisk.id}, ${vm.id}, 'os', 'read-write', true)),
      ${attachReserved(sql, vm)}
      interface as (insert into network_interfaces
        (id, vm_id, name, network_id, subnet_id, mac_address, wants_public_ipv4)
        values (${vm.networkInterface.id}, ${vm.id}, 'eth0', (select network_id from subnet),
          (select id from subnet), ${vm.networkInterface.macAddress}, ${wantsPublicIpv4(sql, request)})),
      ${insertOperationCte(sql, operation)},
      ${recordCtes(sql, record)}
    select`;
}

/** The subnets that fit the request. A subnet of another project fits none. */
function selectSubnet(
  sql: Queryable,
  { projectId, request }: Pick<NewVm, 'projectId' | 'request'>,
) {
  const { network_id: networkId, subnet_id: subnetId } = request.network_interfaces?.[0] ?? {};
  if (networkId === undefined && subnetId === undefined) {
    return sql`select s.id, s.network_id from subnets s join networks n on n.id = s.network_id
      where n.project_id = ${projectId} and n.is_default and s.location = ${request.location}`;
  }
  return sql`select s.id, s.network_id from subnets s
    where s.project_id = ${projectId} and s.location = ${request.location}
      ${networkId === undefined ? sql`` : sql`and s.network_id = ${networkId}`}
      ${subnetId === undefined ? sql`` : sql`and s.id = ${subnetId}`}`;
}

/**
 * Attaches the reserved address that the request names. Selects no row if the project does not have the address in
 * the location, or if it is attached.
 */
function attachReserved(sql: Queryable, { projectId, request, networkInterface }: NewVm) {
  const addressId = reservedAddressOf(request);
  if (addressId === undefined) return sql``;
  return sql`reserved_address as (update reserved_addresses r set network_interface_id = ${networkInterface.id}
      from public_addresses p where p.id = r.public_address_id and p.location = ${request.location}
        and r.project_id = ${projectId} and r.id = ${addressId} and r.network_interface_id is null
      returning false as wants_dynamic),`;
}

/** Returns the id of the reserved public address that the request names. */
export function reservedAddressOf({ network_interfaces: [only] = [] }: VmRequest) {
  return only?.public_ipv4.id;
}

/** Null if the request names a reserved address that cannot be attached, so that the statement fails. */
function wantsPublicIpv4(sql: Queryable, { network_interfaces: [only] = [] }: VmRequest) {
  if (only?.public_ipv4.id !== undefined) return sql`(select wants_dynamic from reserved_address)`;
  return sql`${only?.public_ipv4.type !== 'none'}::boolean`;
}

export type VmRefusal =
  | 'unknown_type'
  | 'unknown_location'
  | 'type_not_in_location'
  | 'unknown_image'
  | 'no_subnet';

export async function readVmRefusal(
  sql: Queryable,
  vm: Pick<NewVm, 'projectId' | 'request'>,
): Promise<VmRefusal | undefined> {
  const { request } = vm;
  const [row] = await sql<{ refusal: VmRefusal | null }[]>`
    select case
      when not exists (select from vm_types where name = ${request.type} and not retired) then 'unknown_type'
      when not exists (select from locations where name = ${request.location}) then 'unknown_location'
      when not exists (select from vm_type_locations where vm_type = ${request.type} and location = ${request.location})
        then 'type_not_in_location'
      when not exists (${selectNamedImage(sql, { projectId: vm.projectId, ...request })}) then 'unknown_image'
      when not exists (${selectSubnet(sql, vm)}) then 'no_subnet'
      end as refusal`;
  return row?.refusal ?? undefined;
}

/** Returns undefined if there is no such type. */
export async function readNestedVirtualization(
  sql: Queryable,
  type: string,
): Promise<boolean | undefined> {
  const [row] = await sql<
    { nested: boolean }[]
  >`select nested_virtualization as nested from vm_types where name = ${type} and not retired`;
  return row?.nested;
}

/** What an interface names, as far as the project has it. */
export type InterfaceTargets = {
  is_known_network: boolean;
  subnet: { network_id: string; location: string } | null;
};

/** Explains why no subnet fits a request that names a network or a subnet. */
export async function readInterfaceTargets(
  sql: Queryable,
  { projectId, request }: Pick<NewVm, 'projectId' | 'request'>,
): Promise<InterfaceTargets> {
  const { network_id = null, subnet_id = null } = request.network_interfaces?.[0] ?? {};
  const [row] = await sql<InterfaceTargets[]>`
    select exists (select from networks where project_id = ${projectId} and id = ${network_id}::uuid) as is_known_network,
      (select json_build_object('network_id', network_id, 'location', location) from subnets
        where project_id = ${projectId} and id = ${subnet_id}::uuid) as subnet`;
  return row ?? { is_known_network: false, subnet: null };
}
