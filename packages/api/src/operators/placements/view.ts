import type { PlacementHostRows } from '@gantry/db/queries/placement/placement-hosts';
import type { FilterCount } from '@gantry/placement/choose-host';
import type { HostExplanation } from '@gantry/placement/explain-host';
import type { Placement } from '@gantry/placement/host';
import { placedDevices } from '../devices/device-lists.ts';

type Explained = {
  placement: Placement | null;
  filters: FilterCount[];
  explanations: { hostId: string; explanation: HostExplanation }[];
  rows: PlacementHostRows;
};

const NOWHERE: Placement = { hostId: '', gpuIds: [], companionIds: [], numaNodes: [] };

export function placementExplanationView({ placement, filters, explanations, rows }: Explained) {
  const names = new Map(rows.hosts.map(({ id, name }) => [id, name]));
  return {
    placement: placementView(placement ?? NOWHERE, rows),
    filters,
    hosts: explanations.map(({ hostId, explanation }) => ({
      host_id: hostId,
      name: names.get(hostId) ?? '',
      fits: 'placement' in explanation,
      reason: 'placement' in explanation ? '' : `${explanation.failed}: ${explanation.because}`,
    })),
  };
}

function placementView(
  { hostId, gpuIds, companionIds, numaNodes }: Placement,
  rows: PlacementHostRows,
) {
  const chosen = new Set([...gpuIds, ...companionIds]);
  return {
    host_id: hostId,
    host_name: rows.hosts.find(({ id }) => id === hostId)?.name ?? '',
    ...placedDevices(rows.devices.filter(({ id }) => chosen.has(id))),
    numa_nodes: numaNodes.map(({ node, gpus, cores, memoryMib, networkGbps }) => ({
      node,
      gpus,
      cores,
      memory_mib: memoryMib,
      network_gbps: networkGbps,
    })),
  };
}
