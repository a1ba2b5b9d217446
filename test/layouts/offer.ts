import { CATALOGUE, type VmType } from '@gantry/model/vm-types';
import { explainHost } from '@gantry/placement/explain-host';
import type { PlacementHost } from '@gantry/placement/host';
import { newHostIndex } from '@gantry/placement/host-index';
import { placeOnHost } from '@gantry/placement/place-on-host';
import { requestFor } from '@gantry/placement/request-for';
import { LOCATION } from './layout-host.ts';

/** What the catalogue sells of one host. */
export type Offer = {
  /** How many VMs of a type fit if no other type is sold. */
  alone: { type: string; vms: number }[];
  /** The mix that sells the most GPUs with the fewest VMs, largest type first. */
  mix: { type: string; vms: number }[];
  gpus: number;
  sold: number;
  /** Why the smallest type that fits the empty host does not fit beside the mix; empty if all GPUs are sold. */
  reason: string;
  /** Whether the whole server has too little left for one more VM of that type, wherever it is. */
  isUsedUp: boolean;
};

const TYPES = CATALOGUE.toSorted((a, b) => b.gpuCount - a.gpuCount);
const requests = new Map(TYPES.map((type) => [type.name, requestOf(type)]));

function requestOf(type: VmType) {
  return requestFor(LOCATION, {
    ...{ cpu_cores: type.cpuCores, memory_gb: type.memoryGb, network_gbps: type.networkGbps },
    ...{ disk_gb: type.diskGb, disk_count: type.diskCount },
    ...{ gpu_count: type.gpuCount, gpu_type: type.gpuType, may_split: false },
    nested_virtualization: false,
  });
}

/** The types of the host's GPUs, largest first. */
function typesFor({ gpus }: PlacementHost): VmType[] {
  return TYPES.filter(({ gpuType }) => gpus.some(({ model }) => model === gpuType));
}

export function offerOf(host: PlacementHost): Offer {
  const types = typesFor(host);
  const most = host.gpus.length;
  const alone = types.map((type) => ({
    type: type.name,
    vms: fill(
      host,
      Array.from({ length: most }, () => type),
    ).placed.length,
  }));
  let best = fill(host, []);
  for (const mix of mixes(types, most)) {
    const filled = fill(host, mix);
    const isBetter =
      filled.sold > best.sold ||
      (filled.sold === best.sold && filled.placed.length < best.placed.length);
    if (isBetter) best = filled;
  }
  // A type that does not fit an empty host says nothing about the GPUs that are left.
  const fitting = types.filter((_, i) => (alone[i]?.vms ?? 0) > 0);
  const smallest = fitting.at(-1) ?? types.at(-1);
  if (!smallest) throw new Error(`no type of the catalogue has the GPUs of ${host.id}`);
  const why = best.sold < most ? explainHost(best.left, requestOf(smallest)) : null;
  return {
    alone,
    mix: countTypes(best.placed),
    gpus: most,
    sold: best.sold,
    reason: why && 'failed' in why ? `${why.failed}: ${why.because}` : '',
    isUsedUp: isUsedUp(best.left, smallest),
  };
}

function isUsedUp({ numaNodes, companions }: PlacementHost, type: VmType): boolean {
  const total = (amount: 'cores' | 'memoryMib') =>
    numaNodes.reduce((sum, node) => sum + Math.max(0, node[amount]), 0);
  const { cores, memoryMib } = requestOf(type);
  const drives = companions.filter(({ state }) => state === 'free').length;
  return total('cores') < cores || total('memoryMib') < memoryMib || drives < type.diskCount;
}

/** Every mix of types with at most this many GPUs, largest types first. */
function mixes(types: readonly VmType[], gpus: number): VmType[][] {
  const [first, ...others] = types;
  if (!first) return [[]];
  const found: VmType[][] = [];
  for (let count = Math.floor(gpus / first.gpuCount); count >= 0; count -= 1) {
    const some = Array.from({ length: count }, () => first);
    for (const rest of mixes(others, gpus - count * first.gpuCount)) found.push([...some, ...rest]);
  }
  return found;
}

/** Places the VMs one after the other and leaves out those that do not fit. */
function fill(host: PlacementHost, vms: readonly VmType[]) {
  const index = newHostIndex();
  index.put(host);
  const placed: VmType[] = [];
  for (const type of vms) {
    const request = requests.get(type.name);
    const placement = request && placeOnHost(index, host.id, request);
    if (!placement) continue;
    index.claim(placement);
    placed.push(type);
  }
  const left = index.read(host.id);
  if (!left) throw new Error('BUG: the index has the host');
  return { placed, left, sold: placed.reduce((sum, { gpuCount }) => sum + gpuCount, 0) };
}

function countTypes(placed: readonly VmType[]): Offer['mix'] {
  const names = [...new Set(placed.map(({ name }) => name))];
  return names.map((type) => ({ type, vms: placed.filter(({ name }) => name === type).length }));
}
