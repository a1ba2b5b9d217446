import { newId } from '@gantry/model/ids';
import type { Queryable } from '../connect.ts';
import type { NumaNodeTotals } from '../schema/hosts.ts';

/**
 * False where the host said the same before, is gone, or has another stream by now: then its devices
 * are as they were. Otherwise they are locked, before the number of the host is.
 */
export async function updateInventory(
  sql: Queryable,
  host: {
    hostId: string;
    streamEpoch: string;
    inventory: object;
    numaNodes: NumaNodeTotals[];
    sharedStorage: boolean;
  },
): Promise<boolean> {
  // JSON may have the character zero, a database may not.
  const inventory = JSON.stringify(host.inventory, (_, value) =>
    typeof value === 'string' ? value.replaceAll('\0', '') : value,
  );
  const { count: isNews } = await sql`select from hosts where id = ${host.hostId}
    and stream_epoch = ${host.streamEpoch} and fenced_at is null
    and inventory is distinct from ${inventory}::text::jsonb for no key update`;
  if (!isNews) return false;
  await sql`select from gpus where host_id = ${host.hostId} order by id for update`;
  await sql`select from drives where host_id = ${host.hostId} order by id for update`;
  await sql`update hosts set inventory = ${inventory}::text::jsonb,
      numa_nodes = ${JSON.stringify(host.numaNodes)}::text::jsonb, shared_storage = ${host.sharedStorage}
    where id = ${host.hostId}`;
  return true;
}

type Gpu = {
  pciAddress: string;
  model: string;
  numaNode: number;
  pcieSwitch: string;
  iommuGroup: number | null;
  nvlinkPeer: string;
};

/** A card that is back is ready, unless it had been put in quarantine. */
export async function upsertGpus(
  sql: Queryable,
  { hostId, gpus }: { hostId: string; gpus: Gpu[] },
): Promise<void> {
  const rows = gpus.map((gpu) => ({ id: newId(), ...gpu }));
  await sql`insert into gpus (id, host_id, pci_address, model, numa_node, pcie_switch, iommu_group, nvlink_peer)
    select id, ${hostId}, "pciAddress", model, "numaNode", "pcieSwitch", "iommuGroup", "nvlinkPeer"
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as gpu(id uuid, "pciAddress" text, model text,
      "numaNode" integer, "pcieSwitch" text, "iommuGroup" integer, "nvlinkPeer" text)
    on conflict (host_id, pci_address) do update set model = excluded.model, numa_node = excluded.numa_node,
      pcie_switch = excluded.pcie_switch, iommu_group = excluded.iommu_group, nvlink_peer = excluded.nvlink_peer,
      state = case gpus.state when 'missing' then 'ready' else gpus.state end`;
}

type Drive = { pciAddress: string; serial: string; sizeGb: number; numaNode: number };

/** A drive bound to a VM does not tell its serial number or size: what was known of it stays. */
export async function upsertDrives(
  sql: Queryable,
  { hostId, drives }: { hostId: string; drives: Drive[] },
): Promise<void> {
  const rows = drives.map((drive) => ({ id: newId(), ...drive }));
  await sql`insert into drives (id, host_id, pci_address, serial, size_gb, numa_node)
    select id, ${hostId}, "pciAddress", serial, "sizeGb", "numaNode"
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as drive(id uuid, "pciAddress" text, serial text,
      "sizeGb" integer, "numaNode" integer)
    on conflict (host_id, pci_address) do update set numa_node = excluded.numa_node,
      serial = coalesce(nullif(excluded.serial, ''), drives.serial),
      size_gb = coalesce(nullif(excluded.size_gb, 0), drives.size_gb),
      state = case drives.state when 'missing' then 'ready' else drives.state end`;
}

/** Devices the host no longer finds: nothing is placed on them, and who has one keeps the claim. */
export async function updateMissingDevices(
  sql: Queryable,
  { hostId, gpus, drives }: { hostId: string; gpus: string[]; drives: string[] },
): Promise<void> {
  await sql`update gpus set state = 'missing'
    where host_id = ${hostId} and state = 'ready' and pci_address <> all(${gpus}::text[])`;
  await sql`update drives set state = 'missing'
    where host_id = ${hostId} and state = 'ready' and pci_address <> all(${drives}::text[])`;
}
