import { CATALOGUE, type VmType } from '@gantry/model/vm-types';
import { chooseHost } from '@gantry/placement/choose-host';
import { newHostIndex } from '@gantry/placement/host-index';
import { requestFor } from '@gantry/placement/request-for';
import type { ServerModel } from '@gantry/simulator/servers/server-model';
import { SERVER_MODELS } from '@gantry/simulator/servers/server-models';
import { simulatedInventory } from '@gantry/simulator/servers/simulated-inventory';
import { describe, expect, it } from 'vitest';
import { LOCATION, layoutHost } from '../layouts/layout-host.ts';

/**
 * Tests that a common server is sold whole, from the files in sysfs through the agent's inventory and
 * the wire to the scheduler's placement.
 */

function typeNamed(name: string): VmType {
  const type = CATALOGUE.find((one) => one.name === name);
  if (!type) throw new Error(`no type ${name}`);
  return type;
}

/** Two sockets of 48 cores with two threads each, 1 TiB and eight A100. */
function commonServer(): ServerModel {
  const model = SERVER_MODELS.find(({ name }) => name === 'a100-40gb-8');
  if (!model) throw new Error('no such model');
  return { ...model, nodes: model.nodes.map((node) => ({ ...node, cores: 48, memoryGib: 512 })) };
}

/** Places VMs of one type until one is refused. */
async function fill(model: ServerModel, typeName: string): Promise<number> {
  const type = typeNamed(typeName);
  const index = newHostIndex();
  index.put(layoutHost('host', await simulatedInventory(model)));
  const request = requestFor(LOCATION, {
    ...{ cpu_cores: type.cpuCores, memory_gb: type.memoryGb, disk_gb: type.diskGb },
    ...{ disk_count: type.diskCount, gpu_count: type.gpuCount, gpu_type: type.gpuType },
    ...{ network_gbps: type.networkGbps, may_split: false },
    nested_virtualization: false,
  });
  for (let placed = 0; ; placed += 1) {
    const choice = chooseHost(index, request);
    if (!('hostId' in choice)) return placed;
    index.claim(choice);
  }
}

describe('a server with 2 x 48 cores, 1 TiB and eight A100', () => {
  it.each([
    ['a100.1x', 8],
    ['a100.2x', 4],
    ['a100.4x', 2],
    ['a100.8x', 1],
  ])('is sold whole as %s', async (type, count) => {
    expect(await fill(commonServer(), type)).toBe(count);
  });

  it('offers its threads without one core of each node, and its pages of 1 GiB', async () => {
    const { numaNodes } = layoutHost('host', await simulatedInventory(commonServer()));
    expect(numaNodes).toMatchObject([
      { cores: 94, memoryMib: 489 * 1_024 },
      { cores: 94, memoryMib: 489 * 1_024 },
    ]);
  });
});
