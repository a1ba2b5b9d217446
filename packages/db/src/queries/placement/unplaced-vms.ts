/** Lists the VMs that need a host, in fair turns, and what placement needs to know about them. */
import { groupBy } from '@gantry/model/group-by';
import type { DiskType } from '@gantry/model/states';
import type { Queryable } from '../../connect.ts';
import type { BuildFailure } from '../../schema/vms.ts';
import { type TypeAmounts, typeAmounts } from '../catalogue/type-amounts.ts';
import { FIRST_ID } from '../page-bounds.ts';
import { rowByRow } from '../row-by-row.ts';

/** An interface and which addresses it has. A stopped VM keeps its private address. */
export type UnplacedInterface = {
  id: string;
  subnet_id: string;
  cidr: string;
  has_private: boolean;
  /** It wants a public address and has none. */
  needs_public: boolean;
};

/** `host_id`: the host that stores it or is to create it; null if none was chosen yet. */
type VmDisk = {
  host_id: string | null;
  shared_storage: boolean;
  /** Whether a storage cluster stores it. */
  in_pool: boolean;
  type: DiskType;
  size_gib: number;
};

export type UnplacedVm = {
  id: string;
  /** The driver returns 64-bit numbers as text. */
  generation: string;
  /** Its unfinished operation, for logs and traces; null if the control plane moves the VM by itself. */
  operation_id: string | null;
  type: string;
  /** Hosts that could not build it; without a `build_failure`, hosts that an operator moves it away from. */
  avoided_hosts: string[];
  /** Why the last of them could not build it. */
  build_failure: BuildFailure | null;
  amounts: TypeAmounts;
  interfaces: UnplacedInterface[];
  /** Hosts that store its disks without shared storage; the VM can run only there. */
  storage_hosts: string[];
  /** Whether it has disks on shared storage. */
  shared_storage: boolean;
  /** Whether a storage cluster stores some of its disks. */
  has_volumes: boolean;
  /** The size of the disks that its host has to create. Shared volumes are not counted. */
  new_disks_gib: number;
};

/** The condition is exactly that of the index `vms_unplaced`. */
export const isUnplaced = (
  sql: Queryable,
) => sql`desired_state = 'running' and not placed and not abandoned
  and observed_generation < generation`;

/**
 * Whether the VM `v` has a disk that is being set back to a snapshot, or whose volume does not exist yet or has no key that a host
 * could get. The scheduler makes both; until then the VM is not placed.
 */
export const waitsForVolumes = (sql: Queryable) => sql`exists (select from disk_attachments a
  join disks d on d.id = a.disk_id where a.vm_id = v.id and a.desired_state = 'attached'
    and (d.restore_snapshot_id is not null or d.pool_id is not null and (d.observed_size_gib is null or not exists (select from volume_keys k
      where k.disk_id = d.id and k.host_id is null and not k.revoked))) ${rowByRow(sql)})`;

/** The VMs of one turn, and where the next turn begins. */
export type Turn = {
  vms: UnplacedVm[];
  /** More VMs may wait. */
  more: boolean;
  /** The next turn begins with the projects after this one. */
  after: string;
};

type TurnRow = TypeAmounts &
  Pick<
    UnplacedVm,
    'id' | 'generation' | 'operation_id' | 'type' | 'avoided_hosts' | 'build_failure' | 'interfaces'
  > & {
    disks: VmDisk[];
    project_id: string;
    share: number;
    projects: number;
    last_project: string;
  };
type TurnOptions = { location: string; limit: number; ofOrganization?: number; after?: string };

/** An organization has at most so many VMs in a turn, so that the next turn of others comes soon. */
const TURN_OF_ORGANIZATION = 500;

/**
 * Lists the VMs whose turn it is: the oldest of each organization, then the second of each, and so on.
 * The organizations with unplaced VMs in the location share the limit equally, and so do the projects of
 * an organization. The index `vms_unplaced` leads from project to project and then to the oldest VMs of
 * each, so the cost grows with the number of projects and with the limit, and not with the number of VMs
 * that wait. With "project_id = s.id" PostgreSQL may read all VMs in the order of their ids instead. If there
 * are more projects than the limit, the next turn goes on after the last one.
 */
export async function listUnplacedVms(
  sql: Queryable,
  { location, limit, ofOrganization = TURN_OF_ORGANIZATION, after = FIRST_ID }: TurnOptions,
): Promise<Turn> {
  const nextProject = (previous: ReturnType<Queryable>) => sql`(select project_id from vms
    where location = ${location} and ${isUnplaced(sql)} and project_id > ${previous}
    order by project_id limit 1)`;
  const rows = await sql<TurnRow[]>`
    with recursive pending (id) as (select ${nextProject(sql`${after}::uuid`)}
        union all select ${nextProject(sql`pending.id`)} from pending where id is not null),
      project as materialized (select w.id, p.organization_id
        from (select id from pending where id is not null limit ${limit}) w join projects p on p.id = w.id),
      total as (select count(*)::int as projects, count(distinct organization_id) as organizations,
        max(id::text) as last_project from project),
      sharing as (select project.*, projects, last_project,
          greatest(1, ceil(least(${ofOrganization}::int, ${limit}::int / organizations)
            / count(*) over (partition by organization_id)::float8))::int as share
        from project, total)
    select v.id, v.generation, v.type, v.avoided_hosts, v.build_failure, ${typeAmounts(sql)},
      (select o.id from operations o where o.resource_id = v.id and o.state = 'IN_PROGRESS') as operation_id,
      ${interfacesOfVm(sql)} as interfaces, ${disksOfVm(sql)} as disks,
      s.id as project_id, s.share, s.projects, s.last_project
    from sharing s
    cross join lateral (select id, generation, type, avoided_hosts, build_failure from vms v
      where location = ${location} and ${isUnplaced(sql)} and project_id between s.id and s.id
        and not ${waitsForVolumes(sql)}
      order by project_id, id limit s.share) v
    join vm_types t on t.name = v.type
    order by row_number() over (partition by s.organization_id order by v.id), v.id limit ${limit}`;
  const vms = rows.map((row) => {
    const { id, generation, operation_id, type, avoided_hosts, build_failure, ...others } = row;
    const { interfaces, disks, project_id, share, projects, last_project, ...amounts } = others;
    const vm = { id, generation, operation_id, type, avoided_hosts, build_failure };
    return { ...vm, interfaces, amounts, ...whereStored(disks) };
  });
  const [first] = rows;
  const goesOn = first !== undefined && first.projects >= limit;
  const counts = groupBy(rows, ({ project_id }) => project_id);
  const isFull = [...counts.values()].some((own) => own.length >= (own[0]?.share ?? 0));
  return {
    vms,
    more: goesOn || isFull || (after !== FIRST_ID && first === undefined),
    after: goesOn ? first.last_project : FIRST_ID,
  };
}

function whereStored(disks: readonly VmDisk[]) {
  const local = disks.filter(({ shared_storage, in_pool }) => !shared_storage && !in_pool);
  const fresh = local.filter(({ host_id, type }) => host_id === null && type !== 'shared-volume');
  return {
    storage_hosts: [...new Set(local.flatMap(({ host_id }) => host_id ?? []))],
    shared_storage: disks.some((disk) => disk.shared_storage),
    has_volumes: disks.some(({ in_pool }) => in_pool),
    new_disks_gib: fresh.reduce((sum, { size_gib }) => sum + size_gib, 0),
  };
}

/** The interfaces of the VM, which is `v` in the outer statement. */
const interfacesOfVm = (sql: Queryable) => sql`coalesce((
    select jsonb_agg(jsonb_build_object('id', n.id, 'subnet_id', n.subnet_id, 'cidr', s.cidr,
      'has_private', exists (select from address_claims where network_interface_id = n.id),
      'needs_public', n.wants_public_ipv4
        and not exists (select from public_addresses where network_interface_id = n.id)) order by n.name)
    from network_interfaces n join subnets s on s.id = n.subnet_id where n.vm_id = v.id), '[]')`;

/** The disks of the VM. The disks of a removed host are not shared. */
const disksOfVm = (sql: Queryable) => sql`coalesce((
    select jsonb_agg(jsonb_build_object('host_id', coalesce(d.host_id, d.home_id),
      'shared_storage', coalesce(h.shared_storage, false), 'in_pool', d.pool_id is not null, 'type', d.type, 'size_gib', d.size_gib))
    from disk_attachments a join disks d on d.id = a.disk_id
    left join hosts h on h.id = coalesce(d.host_id, d.home_id)
    where a.vm_id = v.id and a.desired_state = 'attached'), '[]')`;
