import type { DeviceProblem } from '@gantry/model/device-problem';
import type { DeviceKind, DeviceState, HostAdminState, HostState } from '@gantry/model/host-states';
import type { VmState } from '@gantry/model/vm-life/states';
import type { Queryable } from '../../connect.ts';
import type { NumaNodeTotals, UnresponsiveVm } from '../../schema/hosts.ts';
import { type IdListing, idOrder, listedByIds } from '../listing.ts';

/** Reads and changes of hosts and devices by operators. */

/** As on the wire: 64-bit numbers are decimal text; null means that it is not known. */
export type PciFacts = {
  driver: string;
  resetMethods: string[];
  link: { speedGts: number; maxSpeedGts: number; width: number; maxWidth: number } | null;
  aer: { correctable: string; nonfatal: string; fatal: string } | null;
};

export type StoragePoolFacts = {
  name: string;
  sizeBytes: string;
  freeBytes: string;
  offeredBytes: string;
  diskKinds: string[];
};

export type HostDevice = {
  id: string;
  kind: DeviceKind;
  pci_address: string;
  numa_node: number;
  state: DeviceState;
  state_reason: string;
  quarantine_reason: string;
  problems: DeviceProblem[];
  vm_id: string | null;
  model: string;
  serial: string;
  size_gb: number;
  pcie_switch: string;
  iommu_group: number | null;
  nvlink_peer: string;
  uses: string[];
  /** Null while the host's inventory does not have the device. */
  pci: PciFacts | null;
};

export type HostRow = {
  id: string;
  name: string;
  location: string;
  state: HostState;
  admin_state: HostAdminState;
  connected: boolean;
  last_seen_at: Date | null;
  fenced_at: Date | null;
  storage_address: string | null;
  storage_fence_problem: string;
  /** The storage clusters that refuse its clients. */
  storage_fences: string[];
  created_at: Date;
  /** The driver returns 64-bit numbers as text. */
  wanted_number: string;
  accepted_number: string;
  refusal: string;
  trouble: string;
  unknown_vms: string[];
  unresponsive_vms: UnresponsiveVm[];
  shared_storage: boolean;
  enforces_bandwidth: boolean;
  lacks_nesting: boolean;
  /** Null before the first report, and in reports of older agents. */
  storage_pools: StoragePoolFacts[] | null;
  /** How large all its disks are together. */
  disks_gib: number;
  numa_nodes: NumaNodeTotals[];
  /** Null before the first report. */
  software: {
    os: string;
    kernel: string;
    firmware: string;
    libvirt: string;
    agent: string;
    /** This and the next fields are absent in reports of older agents. */
    commandLine?: string;
    iommu?: string;
    capabilities?: string[];
  } | null;
  drift: string[];
  labels: Record<string, string>;
  devices: HostDevice[];
  vm_count: number;
};

/** Nested times are text, because they come from JSON. */
export type HostCertificate = {
  serial: string;
  not_after: string;
  created_at: string;
  revoked_at: string | null;
};
export type PlacedVm = { id: string; project_id: string; name: string; state: VmState };
export type HostDetailsRow = HostRow & { certificates: HostCertificate[]; vms: PlacedVm[] };

/**
 * How long a scheduler counts as alive after its last heartbeat. It sends one every few seconds, so
 * a scheduler that missed several is gone, and so are its streams.
 */
const VOUCHED_SECONDS = 15;

/** The device at an address, within an inventory. */
const DEVICE_AT = '$.devices[*] ? (@.address == $at)';

const hostColumns = (sql: Queryable) => sql`
  h.id, h.name, h.location, h.state, h.admin_state, h.fenced_at, h.created_at, h.accepted_number,
  h.refusal, h.trouble, h.unknown_vms, h.unresponsive_vms, h.shared_storage, h.enforces_bandwidth, h.lacks_nesting, h.numa_nodes,
  host(h.storage_address) as storage_address, h.storage_fence_problem,
  array(select c.name from storage_fences f join storage_clusters c on c.id = f.cluster_id where f.host_id = h.id
    order by c.name) as storage_fences,
  h.inventory -> 'software' as software, h.inventory -> 'storagePools' as storage_pools,
  disks_gib(h.id)::integer as disks_gib, h.drift, h.labels, r.number as wanted_number,
  coalesce(s.last_seen_at > now() - make_interval(secs => ${VOUCHED_SECONDS}), false) as connected,
  greatest(h.last_seen_at, s.last_seen_at) as last_seen_at,
  (select coalesce(json_agg(json_build_object('id', d.id, 'kind', d.kind, 'pci_address', d.pci_address,
      'model', d.model, 'serial', d.serial, 'size_gb', d.size_gb, 'numa_node', d.numa_node,
      'pcie_switch', d.pcie_switch, 'iommu_group', d.iommu_group, 'nvlink_peer', d.nvlink_peer, 'uses', d.uses,
      'state', d.state, 'state_reason', d.state_reason, 'quarantine_reason', d.quarantine_reason,
      'problems', d.problems, 'vm_id', coalesce(c.vm_id, o.vm_id),
      'pci', jsonb_path_query_first(h.inventory, ${DEVICE_AT}::text::jsonpath, jsonb_build_object('at', d.pci_address)))
      order by d.pci_address), '[]')
    from devices d left join device_claims c on c.device_id = d.id left join orphans o on o.id = c.orphan_id
    where d.host_id = h.id) as devices,
  (select count(*)::integer from placements p where p.host_id = h.id) as vm_count`;

const fromHosts = (sql: Queryable) => sql`
  from hosts h join host_revisions r on r.host_id = h.id left join schedulers s on s.id = h.scheduler_id`;

export async function readHost(
  sql: Queryable,
  hostId: string,
): Promise<HostDetailsRow | undefined> {
  const [row] = await sql<HostDetailsRow[]>`
    select ${hostColumns(sql)},
      (select coalesce(json_agg(json_build_object('serial', c.serial, 'not_after', c.not_after,
          'created_at', c.created_at, 'revoked_at', c.revoked_at) order by c.created_at, c.serial), '[]')
        from host_certificates c where c.host_id = h.id) as certificates,
      (select coalesce(json_agg(json_build_object('id', v.id, 'project_id', v.project_id, 'name', v.name,
          'state', v.state) order by v.id), '[]')
        from placements p join vms v on v.id = p.vm_id where p.host_id = h.id) as vms
    ${fromHosts(sql)} where h.id = ${hostId}`;
  return row;
}

/**
 * Reads the host and locks it, so that nothing is placed there until the transaction ends. The key is not
 * locked: a changed rule refers to its hosts after it has locked their spec numbers.
 */
export async function lockHost(
  sql: Queryable,
  hostId: string,
): Promise<HostDetailsRow | undefined> {
  // The lock has its own statement: a statement's snapshot is older than a lock it waits for.
  await sql`select from hosts where id = ${hostId} for no key update`;
  return await readHost(sql, hostId);
}

export type HostFilter = IdListing & {
  location: string | null;
  state: string | null;
  adminState: string | null;
};

export async function listHosts(sql: Queryable, filter: HostFilter): Promise<HostRow[]> {
  return await sql<HostRow[]>`select ${hostColumns(sql)} ${fromHosts(sql)}
    where ${listedByIds(sql, filter, sql`h.`)}
      and (${filter.location}::text is null or h.location = ${filter.location})
      and (${filter.state}::text is null or h.state = ${filter.state})
      and (${filter.adminState}::text is null or h.admin_state = ${filter.adminState})
    ${idOrder(sql, filter, sql`h.`)}`;
}

export async function updateHostAdminState(
  sql: Queryable,
  { hostId, adminState }: { hostId: string; adminState: HostAdminState },
): Promise<void> {
  await sql`update hosts set admin_state = ${adminState} where id = ${hostId}`;
}

export async function updateHostLabels(
  sql: Queryable,
  { hostId, labels }: { hostId: string; labels: Record<string, string> },
): Promise<void> {
  await sql`update hosts set labels = ${JSON.stringify(labels)}::text::jsonb where id = ${hostId}`;
}

/** Accepts the present facts of the host. Returns false if it has reported none. */
export async function updateAcceptedFacts(sql: Queryable, hostId: string): Promise<boolean> {
  const { count } = await sql`update hosts set accepted_facts = facts, drift = '{}'
    where id = ${hostId} and facts is not null`;
  return count > 0;
}

/** Idempotent: the first time stays. */
export async function updateHostFenced(sql: Queryable, hostId: string): Promise<void> {
  await sql`update hosts set fenced_at = now() where id = ${hostId} and fenced_at is null`;
}

/** Revokes all certificates of the host; those revoked before keep their time. */
export async function revokeHostCertificates(sql: Queryable, hostId: string): Promise<void> {
  await sql`update host_certificates set revoked_at = now()
    where host_id = ${hostId} and revoked_at is null`;
}

/** Lists disks that no other host can reach. */
export async function countDisksOnlyOn(sql: Queryable, hostId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count from disks d join hosts h on h.id = d.host_id
    where h.id = ${hostId} and not h.shared_storage`;
  return row?.count ?? 0;
}

/** Removes its devices too. */
export async function removeHost(sql: Queryable, hostId: string): Promise<void> {
  await sql`delete from hosts where id = ${hostId}`;
}

export type DeviceRow = {
  id: string;
  kind: DeviceKind;
  host_id: string;
  pci_address: string;
  state: DeviceState;
  state_reason: string;
  quarantine_reason: string;
  problems: DeviceProblem[];
};

export async function readDevice(sql: Queryable, deviceId: string): Promise<DeviceRow | undefined> {
  const [row] = await sql<DeviceRow[]>`
    select ${deviceColumns(sql)} from devices where id = ${deviceId}`;
  return row;
}

/** A device is changed only under the lock of its host. Its spec number is locked afterwards. */
async function lockHostOfDevice(sql: Queryable, deviceId: string): Promise<void> {
  await sql`select from hosts where id = (select host_id from devices where id = ${deviceId}) for no key update`;
}

export async function updateQuarantine(
  sql: Queryable,
  { deviceId, reason }: { deviceId: string; reason: string },
): Promise<DeviceRow | undefined> {
  await lockHostOfDevice(sql, deviceId);
  const [row] = await sql<DeviceRow[]>`
    update devices set quarantine_reason = ${reason} where id = ${deviceId} returning ${deviceColumns(sql)}`;
  return row;
}

/**
 * An operator who releases a device has inspected it: the release replaces the missing proof that
 * the device is clean, and clears the problems that do not clear by themselves.
 */
export async function updateReleased(
  sql: Queryable,
  deviceId: string,
): Promise<DeviceRow | undefined> {
  await lockHostOfDevice(sql, deviceId);
  const [row] = await sql<DeviceRow[]>`
    update devices set state_reason = '', quarantine_reason = '',
      problems = jsonb_path_query_array(problems, '$[*] ? (@.until_released != true)'),
      state = case when state <> 'quarantined' then state when not ${isInInventory(sql)} then 'missing'
        when uses <> '{}' then 'used_by_host' else 'ready' end
    where id = ${deviceId} returning ${deviceColumns(sql)}`;
  return row;
}

/**
 * Asks the inventory, because a host's device rows are only written when something changes there.
 */
const isInInventory = (sql: Queryable) => sql`
  coalesce((select jsonb_path_exists(h.inventory, ${DEVICE_AT}::text::jsonpath, jsonb_build_object('at', pci_address))
    from hosts h where h.id = devices.host_id), true)`;

const deviceColumns = (sql: Queryable) =>
  sql`id, kind, host_id, pci_address, state, state_reason, quarantine_reason, problems`;
