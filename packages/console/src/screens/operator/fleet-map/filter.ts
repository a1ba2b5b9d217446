import type { Cell, FleetHost, GpuState } from './layout.ts';

export type FleetFilter = { text: string; location: string; model: string; state: GpuState | '' };
export const NO_FILTER: FleetFilter = { text: '', location: '', model: '', state: '' };

export const isFiltered = (filter: FleetFilter): boolean =>
  Object.values(filter).some((value) => value !== '');

type Gpu = Pick<Cell, 'model' | 'state' | 'address' | 'vm'>;

/** Whether a GPU has everything that is asked for. The text may be a part of a name, an id or an address. */
export function matches(filter: FleetFilter, host: FleetHost, gpu: Gpu): boolean {
  if (filter.location !== '' && host.location !== filter.location) return false;
  if (filter.model !== '' && gpu.model !== filter.model) return false;
  if (filter.state !== '' && gpu.state !== filter.state) return false;
  const text = filter.text.trim().toLowerCase();
  if (text === '') return true;
  const texts = [host.name, host.rack, host.id, gpu.address, gpu.vm?.name, gpu.vm?.id];
  return texts.some((each) => each?.toLowerCase().includes(text));
}

/** How many GPUs of each state match. */
export function countStates(
  hosts: readonly FleetHost[],
  filter: FleetFilter,
): Record<GpuState, number> {
  const counts = { free: 0, sold: 0, cleaning: 0, blocked: 0 };
  for (const host of hosts)
    for (const { model, addresses, states, vms } of host.gpus)
      states.forEach((state, index) => {
        const vm = host.vms[vms[index] ?? -1] ?? null;
        if (matches(filter, host, { model, state, address: addresses[index] ?? '', vm }))
          counts[state] += 1;
      });
  return counts;
}

export const distinct = (values: Iterable<string>): string[] => [...new Set(values)].sort();
