import type { DeviceProblem } from '@gantry/model/device-problem';
import type { DeviceState } from '@gantry/model/host-states';
import { newId } from '@gantry/model/ids';
import type { Queryable } from '../connect.ts';
import type { NumaNodeTotals } from '../schema/hosts.ts';

/** As JSON has them: what they mean is known to those who wrote them. */
export type KnownHost = { inventory: unknown; accepted_facts: unknown; drift: string[] };

export type KnownDevice = {
  pci_address: string;
  state: DeviceState;
  problems: DeviceProblem[];
  /** The VM that has it; null: none. */
  vm_id: string | null;
  project_id: string | null;
};

/**
 * What is known of the host and its devices, locked, before the number of the host is. Undefined where
 * the host said the same before and was judged by the same rules, is gone, or has another stream by
 * now: then everything is as it was.
 */
export async function lockForNews(
  sql: Queryable,
  host: {
    hostId: string;
    streamEpoch: string;
    inventoryJson: string;
    judgedBy: string;
    underlayAddress: string | null;
  },
): Promise<{ host: KnownHost; devices: KnownDevice[] } | undefined> {
  const [known] = await sql<
    KnownHost[]
  >`select inventory, accepted_facts, drift from hosts where id = ${host.hostId}
    and stream_epoch = ${host.streamEpoch} and fenced_at is null
    and (inventory is distinct from ${host.inventoryJson}::text::jsonb or judged_by <> ${host.judgedBy})
    for no key update`;
  if (!known) return undefined;
  // Before the devices: where it is reached is told to every host that has VMs of these networks.
  await sql`select from networks where id in (select n.network_id from network_interfaces n
      join placements p on p.vm_id = n.vm_id where p.host_id = ${host.hostId}) and exists (select from hosts
      where id = ${host.hostId} and underlay_address is distinct from ${host.underlayAddress}::inet)
    order by id for no key update`;
  const gpus = await sql<KnownDevice[]>`
    select g.pci_address, g.state, g.problems, v.id as vm_id, v.project_id
    from gpus g left join gpu_claims c on c.gpu_id = g.id left join vms v on v.id = c.vm_id
    where g.host_id = ${host.hostId} order by g.id for update of g`;
  const drives = await sql<KnownDevice[]>`
    select d.pci_address, d.state, d.problems, v.id as vm_id, v.project_id
    from drives d left join drive_claims c on c.drive_id = d.id left join vms v on v.id = c.vm_id
    where d.host_id = ${host.hostId} order by d.id for update of d`;
  return { host: known, devices: [...gpus, ...drives] };
}

export async function updateInventory(
  sql: Queryable,
  host: {
    hostId: string;
    inventoryJson: string;
    judgedBy: string;
    numaNodes: NumaNodeTotals[];
    sharedStorage: boolean;
    underlayAddress: string | null;
    facts: object;
    acceptedFacts: object;
    drift: string[];
  },
): Promise<void> {
  await sql`update hosts set inventory = ${host.inventoryJson}::text::jsonb, judged_by = ${host.judgedBy},
      numa_nodes = ${JSON.stringify(host.numaNodes)}::text::jsonb, shared_storage = ${host.sharedStorage},
      underlay_address = ${host.underlayAddress}::inet,
      facts = ${JSON.stringify(host.facts)}::text::jsonb,
      accepted_facts = ${JSON.stringify(host.acceptedFacts)}::text::jsonb, drift = ${host.drift}
    where id = ${host.hostId}`;
}

type Gpu = {
  pciAddress: string;
  model: string;
  numaNode: number;
  pcieSwitch: string;
  iommuGroup: number | null;
  nvlinkPeer: string;
  problems: DeviceProblem[];
};

/**
 * A card that is back is ready, unless it had been put in quarantine. One that is as it was is not
 * written: counters of others must not have everything on the host looked at again.
 */
export async function upsertGpus(
  sql: Queryable,
  { hostId, gpus }: { hostId: string; gpus: Gpu[] },
): Promise<void> {
  const rows = gpus.map((gpu) => ({ id: newId(), ...gpu }));
  await sql`insert into gpus (id, host_id, pci_address, model, numa_node, pcie_switch, iommu_group, nvlink_peer, problems)
    select id, ${hostId}, "pciAddress", model, "numaNode", "pcieSwitch", "iommuGroup", "nvlinkPeer", problems
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as gpu(id uuid, "pciAddress" text, model text,
      "numaNode" integer, "pcieSwitch" text, "iommuGroup" integer, "nvlinkPeer" text, problems jsonb)
    on conflict (host_id, pci_address) do update set model = excluded.model, numa_node = excluded.numa_node,
      pcie_switch = excluded.pcie_switch, iommu_group = excluded.iommu_group, nvlink_peer = excluded.nvlink_peer,
      problems = excluded.problems, state = case gpus.state when 'missing' then 'ready' else gpus.state end
    where gpus.state = 'missing' or (gpus.model, gpus.numa_node, gpus.pcie_switch, gpus.iommu_group, gpus.nvlink_peer,
        gpus.problems) is distinct from (excluded.model, excluded.numa_node, excluded.pcie_switch,
        excluded.iommu_group, excluded.nvlink_peer, excluded.problems)`;
}

type Drive = {
  pciAddress: string;
  serial: string;
  sizeGb: number;
  numaNode: number;
  uses: string[];
  problems: DeviceProblem[];
};

/**
 * The host reports no serial number and no size for a drive that is bound to a VM: the known values
 * stay. A drive that is new in its slot is quarantined in two cases, in which it may hold data of a
 * tenant: the last receipt for its serial number, wherever that was, says that cleaning failed; or a
 * VM still has a claim on the same drive in another slot or host, so that no receipt exists yet.
 */
export async function upsertDrives(
  sql: Queryable,
  { hostId, drives }: { hostId: string; drives: Drive[] },
): Promise<void> {
  const rows = drives.map((drive) => ({ id: newId(), ...drive }));
  await sql`insert into drives (id, host_id, pci_address, serial, size_gb, numa_node, uses, problems, state, state_reason)
    select drive.id, ${hostId}, "pciAddress", drive.serial, "sizeGb", "numaNode", uses, problems,
      case when claimed.vm_id is not null or last.failure_code <> '' then 'quarantined'
        when uses <> '{}' then 'used_by_host' else 'ready' end,
      case when claimed.vm_id is not null then 'still assigned to VM ' || claimed.vm_id
          || ' where it was before, on host ' || claimed.host || ' at ' || claimed.pci_address
        when last.failure_code <> '' then 'not proven clean where it was before: ' || last.failure_message
        else '' end
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as drive(id uuid, "pciAddress" text, serial text,
      "sizeGb" integer, "numaNode" integer, uses text[], problems jsonb)
    left join lateral (select r.failure_code, r.failure_message from device_receipts r
      where r.serial = drive.serial and r.serial <> '' order by r.number desc limit 1) last on true
    left join lateral (select c.vm_id, h.name as host, other.pci_address
      from drives other join drive_claims c on c.drive_id = other.id join hosts h on h.id = other.host_id
      where other.serial = drive.serial and other.serial <> ''
        and (other.host_id, other.pci_address) <> (${hostId}, drive."pciAddress") limit 1) claimed on true
    on conflict (host_id, pci_address) do update set numa_node = excluded.numa_node,
      serial = coalesce(nullif(excluded.serial, ''), drives.serial),
      size_gb = coalesce(nullif(excluded.size_gb, 0), drives.size_gb),
      uses = excluded.uses, problems = excluded.problems,
      state = case when ${isQuarantined(sql)} then 'quarantined'
        when excluded.uses <> '{}' then 'used_by_host' else 'ready' end,
      state_reason = case when ${isDirtyNewcomer(sql)} then excluded.state_reason else drives.state_reason end
    where drives.state = 'missing' or (drives.numa_node, drives.uses, drives.problems)
        is distinct from (excluded.numa_node, excluded.uses, excluded.problems)
      or excluded.serial not in ('', drives.serial) or excluded.size_gb not in (0, drives.size_gb)`;
}

/** A different drive is in the slot, and it may hold data of a tenant. */
const isDirtyNewcomer = (sql: Queryable) =>
  sql`(excluded.serial <> drives.serial and excluded.state = 'quarantined')`;
const isQuarantined = (sql: Queryable) =>
  sql`(drives.state = 'quarantined' or ${isDirtyNewcomer(sql)})`;

/** Devices the host no longer finds: nothing is placed on them, and who has one keeps the claim. */
export async function updateMissingDevices(
  sql: Queryable,
  { hostId, gpus, drives }: { hostId: string; gpus: string[]; drives: string[] },
): Promise<void> {
  await sql`update gpus set state = 'missing'
    where host_id = ${hostId} and state = 'ready' and pci_address <> all(${gpus}::text[])`;
  await sql`update drives set state = 'missing'
    where host_id = ${hostId} and state in ('ready', 'used_by_host') and pci_address <> all(${drives}::text[])`;
}
