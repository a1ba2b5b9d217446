import type { HostInventory } from '@gantry/agent/inventory/inventory';
import type { PlacementHost } from '@gantry/placement/host';
import { hostsFromRows } from '@gantry/placement/hosts-from-rows';
import type { Inventory__Output } from '@gantry/proto/generated/gantry/v1/Inventory';
import { loadFleet } from '@gantry/proto/load';
import { HEALTH_RULES } from '@gantry/scheduler/health/health-rules';
import { hostPartsOf } from '@gantry/scheduler/inventory/host-parts';
import { judgeDevices } from '@gantry/scheduler/inventory/judge-devices';

export const LOCATION = 'one';

/** Returns an inventory as the scheduler receives it from an agent. */
function received(inventory: HostInventory): Inventory__Output {
  const { requestSerialize, requestDeserialize } = loadFleet().service.Attach;
  const report = requestDeserialize(requestSerialize({ inventory }));
  if (!report.inventory) throw new Error('BUG: the report has no inventory');
  return report.inventory;
}

/** Returns the host that placement sees: empty, connected and accepted by an operator. */
export function layoutHost(name: string, reported: HostInventory): PlacementHost {
  const inventory = received(reported);
  const parts = hostPartsOf(inventory);
  const judged = judgeDevices({ rules: HEALTH_RULES, before: null, now: inventory, known: [] });
  const blockOf = (address: string) =>
    (judged.get(address)?.problems ?? []).find(({ severity }) => severity === 'block');
  const devices = parts.devices.map((device) => ({
    ...{ id: device.pciAddress, host_id: name, kind: device.kind, pci_address: device.pciAddress },
    ...{ numa_node: device.numaNode, model: device.model, size_gb: device.sizeGb },
    ...{ pcie_switch: device.pcieSwitch, iommu_group: device.iommuGroup },
    ...{ nvlink_peer: device.nvlinkPeer, vm_id: null, quarantine_reason: '' },
    state: device.uses.length > 0 ? 'used_by_host' : 'ready',
    blocked: blockOf(device.pciAddress) !== undefined,
    problem: blockOf(device.pciAddress)?.message ?? null,
  }));
  const host = {
    ...{ id: name, location: LOCATION, state: 'ready', admin_state: 'active', trouble: '' },
    ...{ fenced: false, drifted: false, shared_storage: false, numa_nodes: parts.numaNodes },
    enforces_bandwidth: parts.enforcesBandwidth,
    lacks_nesting: parts.lacksNesting,
    reaches_volumes: false,
    free_storage_gib: parts.storageGib,
  };
  const [made] = hostsFromRows({ hosts: [host], devices, vms: [] });
  if (!made) throw new Error('BUG: a host row makes a host');
  return made;
}
