import type { Schemas } from '@gantry/sdk';
import { Input, Select } from '../../components/field.tsx';
import { describeVmState, VM_STATES } from '../../format/vm-state.ts';

type Vm = Schemas['Vm'];

/** What the list is limited to. The address of the page contains it, so that it can be shared. */
export type VmFilter = { name?: string; state?: string; tag?: string };

export function readVmFilter(search: Record<string, unknown>): VmFilter {
  const filter: VmFilter = {};
  for (const key of ['name', 'state', 'tag'] as const) {
    if (typeof search[key] === 'string' && search[key] !== '') filter[key] = search[key];
  }
  return filter;
}

export function matchesFilter(vm: Vm, { name = '', state, tag }: VmFilter): boolean {
  return (
    vm.name.includes(name.trim().toLowerCase()) &&
    (state === undefined || vm.state === state) &&
    (tag === undefined || tagsOf(vm).includes(tag))
  );
}

const tagsOf = ({ tags }: Vm) => Object.entries(tags).map(([key, value]) => `${key}:${value}`);

type VmFiltersProps = { vms: Vm[]; filter: VmFilter; onChange(next: VmFilter): void };

export function VmFilters({ vms, filter, onChange }: VmFiltersProps) {
  const tags = [...new Set(vms.flatMap(tagsOf))].sort();
  const states = VM_STATES.filter(
    (state) => vms.some((vm) => vm.state === state) || filter.state === state,
  );
  return (
    <search className="mb-3 grid grid-cols-2 gap-2 md:flex">
      <Input
        aria-label="Filter by name"
        placeholder="Filter by name"
        type="search"
        className="col-span-2 md:max-w-60"
        value={filter.name ?? ''}
        onChange={({ target }) => onChange({ ...filter, name: target.value })}
      />
      <Select
        aria-label="State"
        className="md:max-w-40"
        value={filter.state ?? ''}
        onChange={({ target }) => onChange({ ...filter, state: target.value })}
      >
        <option value="">Every state</option>
        {states.map((state) => (
          <option key={state} value={state}>
            {describeVmState(state).label}
          </option>
        ))}
      </Select>
      <Select
        aria-label="Tag"
        className="md:max-w-52"
        value={filter.tag ?? ''}
        onChange={({ target }) => onChange({ ...filter, tag: target.value })}
      >
        <option value="">Every tag</option>
        {tags.map((tag) => (
          <option key={tag}>{tag}</option>
        ))}
      </Select>
    </search>
  );
}
