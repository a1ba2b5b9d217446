import type { DeviceKind } from '@gantry/model/host-states';
import type { Queryable } from '../../connect.ts';
import type { NumaShare } from '../../schema/claims.ts';
import {
  copiesJson,
  deletedSnapshotIds,
  restoresJson,
  type SpecCopyRow,
  type SpecRestoreRow,
  type SpecSnapshotRow,
  snapshotsJson,
} from '../snapshots/host-snapshots.ts';
import { freezesJson, type SpecFreezeRow } from '../snapshots/snapshot-freezes.ts';
import { type DiskLimits, diskLimitsJson } from '../storage/disk-limits.ts';
import {
  exportsJson,
  imageJson,
  type SpecExportRow,
  type SpecImageRow,
} from '../storage/image-exports.ts';
import {
  KnownRules,
  type ListedNetwork,
  type ReadRule,
  type SpecNetworkRow,
} from './known-rules.ts';
import type { SpecDiskRow, SpecVolumeRow } from './spec-rows.ts';

/**
 * The desired state of hosts. One statement reads it, so that number and content belong together.
 */

export type SpecVmDiskRow = SpecDiskRow & {
  mode: string;
  attachment_type: 'os' | 'data';
  exists: boolean;
  /** Whether a storage cluster stores it. */
  in_pool: boolean;
  /** Null if no storage cluster stores the disk, or if the host has no key of its volume yet. */
  volume: SpecVolumeRow | null;
};

export type SpecDeviceRow = {
  id: string;
  kind: DeviceKind;
  pci_address: string;
  numa_node: number;
};

export type SpecVmRow = {
  id: string;
  revision: number;
  generation: number;
  /** False if the VM has to be taken down. */
  should_run: boolean;
  desired_state: 'running' | 'stopped' | 'deleted';
  abandoned: boolean;
  /** It is to be placed on another host. */
  relocating: boolean;
  has_run: boolean;
  name: string;
  project_id: string;
  type: string;
  cpu_cores: number;
  memory_gb: number;
  network_gbps: number;
  nested_virtualization: boolean;
  ssh_public_key: string;
  ssh_keys: string[];
  startup_script: string;
  shutdown_script: string;
  user_data: string;
  /** The unfinished operation of the VM. It is not part of the spec's content. */
  operation_id: string | null;
  image: SpecImageRow;
  devices: SpecDeviceRow[];
  /** Null: they are derived from its GPUs. */
  numa_shares: NumaShare[] | null;
  /** The OS disk is the first one. */
  disks: SpecVmDiskRow[];
  interfaces: {
    id: string;
    network_id: string;
    mac_address: string;
    private_address: string;
    prefix_length: number;
    gateway: string;
    public_address: string | null;
  }[];
};

export type SpecOrphanRow = {
  vm_id: string;
  revision: number;
  devices: SpecDeviceRow[];
  /** Null if its host does not know it, or if a storage cluster stores it. */
  boot_disk_id: string | null;
};

export type SpecDiskLimits = DiskLimits & { disk_type: SpecDiskRow['type'] };

export type HostSpecRow = {
  host_id: string;
  era: string;
  number: string;
  /** An era has begun, and the host must not get this spec yet. */
  awaits_comparison: boolean;
  /** Whether the host has an underlay address, so that it reaches VMs on other hosts. */
  spans: boolean;
  vms: SpecVmRow[];
  /** The orphans that an operator has decided to delete. */
  orphans: SpecOrphanRow[];
  disks: SpecDiskRow[];
  deleted_disks: string[];
  networks: SpecNetworkRow[];
  /** The types of disk that have limits. */
  disk_limits: SpecDiskLimits[];
  freezes: SpecFreezeRow[];
  snapshots: SpecSnapshotRow[];
  deleted_snapshots: string[];
  disk_copies: (SpecDiskRow & SpecCopyRow)[];
  disk_restores: SpecRestoreRow[];
  image_exports: SpecExportRow[];
  /** The order to run another version of the agent; null: none. */
  agent_upgrade: { id: string; version: string; time_limit_s: number } | null;
};

type HostRow = Omit<HostSpecRow, 'networks'> & {
  network_ids: string[];
  network: null;
};
type NetworkRow = { host_id: null; network: ListedNetwork };

/**
 * Call it in `readWithGenericPlan`, because planning takes longer than execution. A network that many of the
 * hosts are in is read once, as a row of its own.
 *
 * With `knownRules`, a second statement reads the rules that are not known yet. Both have to see the same
 * state, so this needs a transaction with one snapshot.
 */
export async function readHostSpecs(
  sql: Queryable,
  hostIds: string[],
  knownRules?: KnownRules,
): Promise<HostSpecRow[]> {
  const rows = await sql<(HostRow | NetworkRow)[]>`
    with host as materialized (select r.host_id, r.number, h.awaits_comparison, h.underlay_address is not null as spans,
        array(select distinct n.network_id::text from placements p
          join network_interfaces n on n.vm_id = p.vm_id where p.host_id = r.host_id) as network_ids
      from host_revisions r join hosts h on h.id = r.host_id where r.host_id = any(${hostIds}::uuid[]))
    select r.host_id, (select era from installation) as era, r.number, r.awaits_comparison, r.spans, r.network_ids, null::json as network,
      (select coalesce(json_agg(${vmOf(sql)} order by v.id), '[]')
        from placements p join vms v on v.id = p.vm_id join vm_types t on t.name = v.type
        join images i on i.id = v.image_id where p.host_id = r.host_id) as vms,
      (select coalesce(json_agg(${orphanOf(sql)} order by o.vm_id), '[]') from orphans o
        where o.host_id = r.host_id and o.decision = 'delete') as orphans,
      (select coalesce(json_agg(${diskOf(sql)} order by d.id), '[]') from disks d
        where d.host_id = r.host_id and d.kind = 'data' and d.desired_state = 'present'
          and d.observed_size_gib < d.size_gib and not ${isWithPlacedVm(sql)}) as disks,
      array(select d.id::text from disks d
        where d.host_id = r.host_id and not ${isWithPlacedVm(sql)}
          and (d.kind = 'data' and d.desired_state = 'deleted' or d.kind = 'os' and ${isOfRemovedVm(sql)})
        order by d.id) as deleted_disks, ${diskLimitsJson(sql)} as disk_limits, ${freezesJson(sql)} as freezes,
      ${snapshotsJson(sql)} as snapshots, ${deletedSnapshotIds(sql)} as deleted_snapshots,
      ${copiesJson(sql, diskOf(sql))} as disk_copies, ${restoresJson(sql)} as disk_restores,
      ${exportsJson(sql)} as image_exports,
      (select json_build_object('id', u.order_id, 'version', u.wanted_version, 'time_limit_s', o.host_time_limit_s)
        from rollout_hosts u join rollouts o on o.id = u.rollout_id
        where u.host_id = r.host_id and u.active and u.wanted_version <> '') as agent_upgrade
    from host r
    union all
    select null, null, null, null, null, null, ${networkOf(sql, knownRules && sql`f.names_resources`)}, null, null, null, null, null, null, null, null, null,
      null, null, null
    from networks w where w.id in (select unnest(network_ids)::uuid from host)`;
  const listed = rows.flatMap(({ host_id, network }) => (host_id === null ? [network] : []));
  const [era = ''] = rows.flatMap((row) => (row.host_id === null ? [] : [row.era]));
  const rules = knownRules ?? new KnownRules();
  const missing = rules.findMissing(era, listed);
  rules.add(missing.length > 0 ? await readRules(sql, missing) : []);
  const networks = new Map(listed.map((network) => [network.id, rules.toNetwork(network)]));
  rules.forgetOldest();
  return rows.flatMap((row) => {
    if (row.host_id === null) return [];
    const { network_ids, network: _, ...host } = row;
    return [{ ...host, networks: network_ids.sort().flatMap((id) => networks.get(id) ?? []) }];
  });
}

async function readRules(sql: Queryable, ids: string[]): Promise<ReadRule[]> {
  return await sql<ReadRule[]>`select f.generation, ${ruleOf(sql)} as rule
    from firewall_rules f where f.id = any(${ids}::uuid[])`;
}

/**
 * The network with the ids of all its rules, and the content of those that meet the condition. The meaning of
 * a rule that names a resource changes without a new generation.
 */
const networkOf = (
  sql: Queryable,
  isRead = sql`true`,
) => sql`json_build_object('id', w.id, 'vni', w.vni,
  'subnets', (select coalesce(json_agg(json_build_object('cidr', s.cidr, 'gateway', host(s.cidr::inet + 1))
      order by s.id), '[]') from subnets s where s.network_id = w.id),
  'rules', (select coalesce(json_agg(json_build_object('id', f.id, 'generation', f.generation) order by f.id), '[]')
    from firewall_rules f where f.desired_state = 'present' and f.network_id = w.id),
  'read', (select coalesce(json_agg(${ruleOf(sql)}), '[]') from firewall_rules f
    where f.desired_state = 'present' and f.network_id = w.id and ${isRead}))`;

const vmOf = (sql: Queryable) => sql`json_build_object('id', v.id, 'revision', v.revision,
  'generation', v.generation,
  'should_run', vm_should_run(v.desired_state, v.abandoned, v.observed_state, v.observed_generation, v.generation)
    and not v.relocating, 'relocating', v.relocating, 'has_run', v.observed_state <> 'none',
  'desired_state', v.desired_state, 'abandoned', v.abandoned, 'name', v.name,
  'project_id', v.project_id, 'type', v.type, 'cpu_cores', t.cpu_cores,
  'memory_gb', t.memory_gb, 'network_gbps', t.network_gbps, 'nested_virtualization', t.nested_virtualization,
  'numa_shares', p.numa_shares, 'ssh_public_key', v.ssh_public_key, 'ssh_keys', v.ssh_keys,
  'startup_script', v.startup_script, 'shutdown_script', v.shutdown_script, 'user_data', v.user_data,
  'operation_id', (select o.id from operations o where o.resource_id = v.id and o.state = 'IN_PROGRESS'),
  'image', ${imageJson(sql)},
  'devices', (select coalesce(json_agg(json_build_object('id', e.id, 'kind', e.kind, 'pci_address', e.pci_address,
      'numa_node', e.numa_node) order by e.pci_address), '[]')
    from device_claims c join devices e on e.id = c.device_id where c.vm_id = v.id),
  'disks', (select coalesce(json_agg(json_build_object('id', d.id, 'type', d.type, 'size_gib', d.size_gib,
      'block_size', d.block_size, 'serial_number', d.serial_number, 'name', d.name, 'mode', a.mode,
      'attachment_type', a.attachment_type, 'exists', d.host_id is not null or d.pool_id is not null,
      'in_pool', d.pool_id is not null, 'volume', case when d.pool_id is not null then ${volumeOf(sql)} end)
      order by a.attachment_type desc, a.created_at, d.id), '[]')
    from disk_attachments a join disks d on d.id = a.disk_id
    where a.vm_id = v.id and a.desired_state = 'attached'),
  'interfaces', (select coalesce(json_agg(json_build_object('id', n.id, 'network_id', n.network_id,
      'mac_address', n.mac_address, 'private_address', host(c.address), 'prefix_length', masklen(s.cidr),
      'gateway', host(s.cidr::inet + 1), 'public_address', host(a.address)) order by n.name), '[]')
    from network_interfaces n join address_claims c on c.network_interface_id = n.id
    join subnets s on s.id = n.subnet_id left join public_addresses a on a.network_interface_id = n.id
    where n.vm_id = v.id))`;

/** The volume of the disk `d` for the host of the placement `p`. */
const volumeOf = (
  sql: Queryable,
) => sql`(select json_build_object('monitors', c.monitors, 'pool', q.name, 'file_system', q.file_system, 'cluster_id', c.id,
    'user', k.entity, 'sealed_key', k.sealed_key, 'encrypted', q.encrypted, 'sealed_passphrase',
    (select w.sealed_passphrase from volume_passphrases w where w.disk_id = d.id and q.encrypted))
  from volume_keys k join storage_pools q on q.id = d.pool_id join storage_clusters c on c.id = q.cluster_id
  where k.disk_id = d.id and k.host_id = p.host_id and not k.revoked order by k.entity limit 1)`;

const orphanOf = (sql: Queryable) => sql`json_build_object('vm_id', o.vm_id, 'revision', o.revision,
  'boot_disk_id', case when jsonb_typeof(o.description #> '{disks,0,rbd}') = 'object' then null
    else o.description -> 'disks' -> 0 ->> 'id' end,
  'devices', (select coalesce(json_agg(json_build_object('id', e.id, 'kind', e.kind, 'pci_address', e.pci_address,
      'numa_node', e.numa_node) order by e.pci_address), '[]')
    from device_claims c join devices e on e.id = c.device_id where c.orphan_id = o.id))`;

const diskOf = (
  sql: Queryable,
) => sql`json_build_object('id', d.id, 'type', d.type, 'size_gib', d.size_gib,
  'block_size', d.block_size, 'serial_number', d.serial_number, 'name', d.name)`;

const isWithPlacedVm = (sql: Queryable) => sql`exists (select from disk_attachments a
  join vms v on v.id = a.vm_id where a.disk_id = d.id and v.placed)`;

const isOfRemovedVm = (sql: Queryable) => sql`exists (select from disk_attachments a
  join vms v on v.id = a.vm_id where a.disk_id = d.id and (v.desired_state = 'deleted' or v.abandoned))`;

/** The present meaning of the rule `f` as JSON of a `SpecRuleRow`. */
export const ruleOf = (
  sql: Queryable,
) => sql`json_build_object('id', f.id, 'network_id', f.network_id,
  'direction', f.direction, 'action', f.action, 'protocols', f.protocols,
  'sources', ${endpointCidrs(sql, sql`f.sources`)}, 'source_ports', f.source_ports,
  'destinations', ${endpointCidrs(sql, sql`f.destinations`)}, 'destination_ports', f.destination_ports)`;

/**
 * Endpoints as CIDRs. No endpoint means any address; a deleted resource matches nothing. A network may have
 * ten thousand endpoints, almost all of them CIDRs, so these are converted as a whole.
 */
const endpointCidrs = (sql: Queryable, endpoints: ReturnType<Queryable>) => sql`case
  when jsonb_array_length(${endpoints}) > 0 and not jsonb_path_exists(${endpoints}, '$[*] ? (!(@.cidr != ""))')
  then jsonb_path_query_array(${endpoints}, '$[*].cidr') else to_jsonb(array(
  select '0.0.0.0/0' where jsonb_array_length(${endpoints}) = 0
  union all select case
    when e ->> 'cidr' <> '' then e ->> 'cidr'
    when coalesce(e ->> 'resource_id', '') = '' then '0.0.0.0/0'
    else coalesce(
      (select host(c.address) || '/32' from network_interfaces n
        join address_claims c on c.network_interface_id = n.id
        where n.vm_id = (e ->> 'resource_id')::uuid and n.network_id = f.network_id limit 1),
      (select s.cidr::text from subnets s where s.id = (e ->> 'resource_id')::uuid),
      (select w.cidr::text from networks w where w.id = (e ->> 'resource_id')::uuid)) end as means
  from jsonb_array_elements(${endpoints}) e)) end`;
