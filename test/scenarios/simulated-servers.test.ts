import type { HostInventory } from '@gantry/agent/inventory/inventory';
import { gpuModelOf } from '@gantry/model/gpu-models';
import { CATALOGUE, type VmType } from '@gantry/model/vm-types';
import { chooseHost } from '@gantry/placement/choose-host';
import type { Placement, PlacementHost, PlacementRequest } from '@gantry/placement/host';
import { newHostIndex } from '@gantry/placement/host-index';
import { SERVER_MODELS } from '@gantry/simulator/servers/server-models';
import { simulatedInventory } from '@gantry/simulator/servers/simulated-inventory';
import { describe, expect, it } from 'vitest';

/** Tests that what the simulated servers offer is enough for what the catalogue sells. */

const LOCATION = 'one';

function placementHostOf({ numaNodes, devices, nics }: HostInventory): PlacementHost {
  const ofKind = (wanted: string) => devices.filter(({ kind }) => kind === wanted);
  const gbps = nics.reduce((sum, { speedMbps = 0 }) => sum + speedMbps / 1_000, 0);
  const nodes = numaNodes.map(({ id, offeredCores, offeredMemoryMib }) => ({
    node: id,
    cores: offeredCores,
    memoryMib: offeredMemoryMib,
    networkGbps: gbps / numaNodes.length,
  }));
  return {
    id: 'host',
    location: LOCATION,
    ready: true,
    adminState: 'active',
    drifted: false,
    trouble: '',
    size: {
      cores: nodes.reduce((sum, { cores }) => sum + cores, 0),
      memoryMib: nodes.reduce((sum, { memoryMib }) => sum + memoryMib, 0),
    },
    numaNodes: nodes,
    gpus: ofKind('gpu').map((gpu) => ({
      id: gpu.address,
      model: gpuModelOf(gpu.vendorId, gpu.deviceId),
      numaNode: gpu.numaNode ?? 0,
      pcieSwitch: gpu.bridges.slice(0, -1).join('/'),
      iommuGroup: gpu.iommuGroup ?? null,
      nvlinkPeer: gpu.attributes['nvlink_bridge'] ?? null,
      state: 'free',
    })),
    companions: ofKind('drive').map(({ address, numaNode = 0, sizeBytes }) => ({
      id: address,
      kind: 'drive',
      numaNode,
      sizeGb: Math.floor(sizeBytes / 1e9),
      state: 'free',
    })),
  };
}

function requestFor(type: VmType, maySplit: boolean): PlacementRequest {
  return {
    ...{ location: LOCATION, maySplit },
    gpuModel: type.gpuType,
    gpuCount: type.gpuCount,
    cores: type.cpuCores,
    memoryMib: type.memoryGb * 1_024,
    companions:
      type.diskCount > 0
        ? [{ kind: 'drive', count: type.diskCount, sizeGb: type.diskGb / type.diskCount }]
        : [],
    networkGbps: type.networkGbps,
  };
}

/** Places VMs of one type until one is refused. */
function fill(host: PlacementHost, type: VmType, { maySplit = false } = {}): Placement[] {
  const index = newHostIndex();
  index.put(host);
  const placements: Placement[] = [];
  for (;;) {
    const choice = chooseHost(index, requestFor(type, maySplit));
    if (!('hostId' in choice)) return placements;
    index.claim(choice);
    placements.push(choice);
  }
}

const CASES = SERVER_MODELS.flatMap((model) =>
  CATALOGUE.filter(
    ({ gpuType }) => gpuType === gpuModelOf(model.gpu.vendorId, model.gpu.deviceId),
  ).map((type) => ({ server: model.name, type: type.name, model, vmType: type })),
);

describe.each(CASES)('an empty $server', ({ model, vmType }) => {
  it(`holds as many ${vmType.name} as its nodes have GPUs for, or split, as it has, and not one more`, async () => {
    const host = placementHostOf(await simulatedInventory(model));
    const { gpuCount } = vmType;
    const most = Math.floor(host.gpus.length / gpuCount);
    const perNode = host.gpus.length / host.numaNodes.length;
    const whole = host.numaNodes.length * Math.floor(perNode / gpuCount);
    expect(fill(host, vmType)).toHaveLength(gpuCount > perNode ? most : whole);
    expect(fill(host, vmType, { maySplit: true })).toHaveLength(most);
  });

  it(`gives the first ${vmType.name} GPUs of as few nodes and switches as possible`, async () => {
    const host = placementHostOf(await simulatedInventory(model));
    const [first] = fill(host, vmType);
    if (!first) {
      expect(vmType.gpuCount).toBeGreaterThan(host.gpus.length);
      return;
    }
    const gpus = host.gpus.filter(({ id }) => first.gpuIds.includes(id));
    const perNode = host.gpus.length / host.numaNodes.length;
    expect(first.numaNodes).toHaveLength(Math.ceil(vmType.gpuCount / perNode));
    if (vmType.gpuCount <= Math.min(...model.nodes.flatMap(({ gpusBySwitch }) => gpusBySwitch)))
      expect(new Set(gpus.map(({ pcieSwitch }) => pcieSwitch)).size).toBe(1);
  });
});

it('every type of the catalogue fits a simulated server, and the largest of a family fits once', async () => {
  const fits = await Promise.all(
    CASES.map(async ({ model, vmType }) => ({
      type: vmType.name,
      vms: fill(placementHostOf(await simulatedInventory(model)), vmType).length,
    })),
  );
  const fitting = new Set(fits.filter(({ vms }) => vms > 0).map(({ type }) => type));
  expect(CATALOGUE.map(({ name }) => name).filter((name) => !fitting.has(name))).toEqual([]);
  const largest = ['a40.8x', 'a100.8x', 'a100-80gb.8x', 'l40s-48gb.10x'];
  for (const { type, vms } of fits) if (largest.includes(type)) expect(vms).toBeLessThanOrEqual(1);
});
