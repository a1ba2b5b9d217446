import type { DeviceProblem } from '@gantry/model/device-problem';
import type { DeviceKind, DeviceState } from '@gantry/model/host-states';
import { newId } from '@gantry/model/ids';
import type { Queryable } from '../../connect.ts';
import type { NumaNodeTotals } from '../../schema/hosts.ts';

export type { NumaNodeTotals };

/** `inventory` and `accepted_facts` are JSON that the scheduler wrote and knows the types of. */
export type KnownHost = { inventory: unknown; accepted_facts: unknown; drift: string[] };

export type KnownDevice = {
  pci_address: string;
  state: DeviceState;
  problems: DeviceProblem[];
  /** The VM that has a claim on it; null if there is none. */
  vm_id: string | null;
  project_id: string | null;
};

/**
 * Locks the host and its devices for a new inventory, and returns what is known about them. Returns
 * undefined if there is nothing to record: the host sent the same inventory before and the same
 * health rules judged it, or the host was removed or fenced, or has a newer stream.
 *
 * The locks are taken before that of the host's row in host_revisions.
 */
export async function lockHostForInventory(
  sql: Queryable,
  host: {
    hostId: string;
    streamEpoch: string;
    inventoryJson: string;
    judgedBy: string;
  },
): Promise<{ host: KnownHost; devices: KnownDevice[] } | undefined> {
  const [known] = await sql<
    KnownHost[]
  >`select inventory, accepted_facts, drift from hosts where id = ${host.hostId}
    and stream_epoch = ${host.streamEpoch} and fenced_at is null
    and (inventory is distinct from ${host.inventoryJson}::text::jsonb or judged_by <> ${host.judgedBy})
    for no key update`;
  if (!known) return undefined;
  const devices = await sql<KnownDevice[]>`
    select d.pci_address, d.state, d.problems, v.id as vm_id, v.project_id
    from devices d left join device_claims c on c.device_id = d.id left join vms v on v.id = c.vm_id
    where d.host_id = ${host.hostId} order by d.id for update of d`;
  return { host: known, devices };
}

export async function updateInventory(
  sql: Queryable,
  host: {
    hostId: string;
    inventoryJson: string;
    judgedBy: string;
    numaNodes: NumaNodeTotals[];
    sharedStorage: boolean;
    enforcesBandwidth: boolean;
    lacksNesting: boolean;
    storageGib: number | null;
    underlayAddress: string | null;
    storageAddress: string | null;
    facts: object;
    acceptedFacts: object;
    drift: string[];
  },
): Promise<void> {
  await sql`update hosts set inventory = ${host.inventoryJson}::text::jsonb, judged_by = ${host.judgedBy},
      numa_nodes = ${JSON.stringify(host.numaNodes)}::text::jsonb, shared_storage = ${host.sharedStorage},
      enforces_bandwidth = ${host.enforcesBandwidth}, lacks_nesting = ${host.lacksNesting}, storage_gib = ${host.storageGib},
      underlay_address = ${host.underlayAddress}::inet, storage_address = ${host.storageAddress}::inet,
      facts = ${JSON.stringify(host.facts)}::text::jsonb,
      accepted_facts = ${JSON.stringify(host.acceptedFacts)}::text::jsonb, drift = ${host.drift}
    where id = ${host.hostId}`;
}

export type ReportedDevice = {
  kind: DeviceKind;
  pciAddress: string;
  numaNode: number;
  model: string;
  /** Empty: the device has none, or does not show it now. */
  serial: string;
  /** Zero: the device has no size, or does not show it now. */
  sizeGb: number;
  pcieSwitch: string;
  iommuGroup: number | null;
  nvlinkPeer: string;
  uses: string[];
  problems: DeviceProblem[];
};

/**
 * Writes the devices that the host found and that differ from their rows. A row that is up to date
 * is not written, because every write makes placement read the host again.
 *
 * - A device that was missing is ready again; one in quarantine stays there. - The host reports no
 * serial number and no size for a drive that a VM has: the known values stay. - A device that is
 * new at its address is quarantined in two cases, in which it may hold data of a tenant: the last
 * receipt for its serial number, on any host, is a failure; or a VM still has a claim on the same
 * device at another address or host, so that no receipt exists yet.
 */
export async function upsertDevices(
  sql: Queryable,
  { hostId, devices }: { hostId: string; devices: readonly ReportedDevice[] },
): Promise<void> {
  const rows = devices.map((device) => ({ id: newId(), ...device }));
  await sql`insert into devices (id, host_id, kind, pci_address, numa_node, model, serial, size_gb, pcie_switch,
      iommu_group, nvlink_peer, uses, problems, state, state_reason)
    select device.id, ${hostId}, kind, "pciAddress", "numaNode", model, device.serial, "sizeGb", "pcieSwitch",
      "iommuGroup", "nvlinkPeer", uses, problems,
      case when claimed.vm_id is not null or last.failure_code <> '' then 'quarantined'
        when uses <> '{}' then 'used_by_host' else 'ready' end,
      case when claimed.vm_id is not null then 'still assigned to VM ' || claimed.vm_id
          || ' where it was before, on host ' || claimed.host || ' at ' || claimed.pci_address
        when last.failure_code <> '' then 'not proven clean where it was before: ' || last.failure_message
        else '' end
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as device(id uuid, kind text, "pciAddress" text,
      "numaNode" integer, model text, serial text, "sizeGb" integer, "pcieSwitch" text, "iommuGroup" integer,
      "nvlinkPeer" text, uses text[], problems jsonb)
    left join lateral (select r.failure_code, r.failure_message from device_receipts r
      where r.serial = device.serial and r.serial <> '' order by r.number desc limit 1) last on true
    left join lateral (select coalesce(c.vm_id, o.vm_id) as vm_id, h.name as host, other.pci_address
      from devices other join device_claims c on c.device_id = other.id join hosts h on h.id = other.host_id
      left join orphans o on o.id = c.orphan_id
      where other.serial = device.serial and other.serial <> ''
        and (other.host_id, other.pci_address) <> (${hostId}, device."pciAddress") limit 1) claimed on true
    on conflict (host_id, pci_address) do update set kind = excluded.kind, numa_node = excluded.numa_node,
      model = excluded.model, serial = coalesce(nullif(excluded.serial, ''), devices.serial),
      size_gb = coalesce(nullif(excluded.size_gb, 0), devices.size_gb), pcie_switch = excluded.pcie_switch,
      iommu_group = excluded.iommu_group, nvlink_peer = excluded.nvlink_peer,
      uses = excluded.uses, problems = excluded.problems,
      state = case when ${isQuarantined(sql)} then 'quarantined'
        when excluded.uses <> '{}' then 'used_by_host' else 'ready' end,
      state_reason = case when ${isDirtyReplacement(sql)} then excluded.state_reason else devices.state_reason end
    where devices.state = 'missing' or ${compared(sql, 'devices')} is distinct from ${compared(sql, 'excluded')}
      or excluded.serial not in ('', devices.serial) or excluded.size_gb not in (0, devices.size_gb)`;
}

/** The columns of which every change is written. */
const compared = (sql: Queryable, row: 'devices' | 'excluded') => {
  const of = sql(row);
  return sql`(${of}.kind, ${of}.numa_node, ${of}.model, ${of}.pcie_switch, ${of}.iommu_group, ${of}.nvlink_peer,
    ${of}.uses, ${of}.problems)`;
};

/** A different device is now at the address, and it may hold data of a tenant. */
const isDirtyReplacement = (sql: Queryable) =>
  sql`(excluded.serial <> devices.serial and excluded.state = 'quarantined')`;
const isQuarantined = (sql: Queryable) =>
  sql`(devices.state = 'quarantined' or ${isDirtyReplacement(sql)})`;

/** Devices that the host no longer finds take no new VM; a VM that has one keeps its claim. */
export async function updateMissingDevices(
  sql: Queryable,
  { hostId, found }: { hostId: string; found: string[] },
): Promise<void> {
  await sql`update devices set state = 'missing'
    where host_id = ${hostId} and state in ('ready', 'used_by_host') and pci_address <> all(${found}::text[])`;
}
