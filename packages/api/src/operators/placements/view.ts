import type { PlacementHostRows } from '@gantry/db/queries/placement-hosts';
import type { FilterCount } from '@gantry/placement/choose-host';
import type { HostAnswer } from '@gantry/placement/explain-host';
import type { Placement } from '@gantry/placement/host';

type Explained = {
  placement: Placement | null;
  filters: FilterCount[];
  answers: { hostId: string; answer: HostAnswer }[];
  rows: PlacementHostRows;
};

const NOWHERE: Placement = { hostId: '', gpuIds: [], driveIds: [], numaNodes: [] };

export function placementExplanationView({ placement, filters, answers, rows }: Explained) {
  const names = new Map(rows.hosts.map(({ id, name }) => [id, name]));
  return {
    placement: placementView(placement ?? NOWHERE, rows),
    filters,
    hosts: answers.map(({ hostId, answer }) => ({
      host_id: hostId,
      name: names.get(hostId) ?? '',
      fits: 'placement' in answer,
      reason: 'placement' in answer ? '' : `${answer.failed}: ${answer.because}`,
    })),
  };
}

function placementView(
  { hostId, gpuIds, driveIds, numaNodes }: Placement,
  rows: PlacementHostRows,
) {
  const devices = (all: { id: string; pci_address: string }[], ids: readonly string[]) =>
    all.flatMap(({ id, pci_address }) => (ids.includes(id) ? [{ id, pci_address }] : []));
  return {
    host_id: hostId,
    host_name: rows.hosts.find(({ id }) => id === hostId)?.name ?? '',
    gpus: devices(rows.gpus, gpuIds),
    drives: devices(rows.drives, driveIds),
    numa_nodes: numaNodes.map(({ node, gpus, cores, memoryMib, networkGbps }) => ({
      ...{ node, gpus, cores, memory_mib: memoryMib, network_gbps: networkGbps },
    })),
  };
}
