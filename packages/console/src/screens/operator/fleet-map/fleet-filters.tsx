import { useMemo } from 'react';
import { Button } from '../../../components/button.tsx';
import { Input, Select } from '../../../components/field.tsx';
import { countStates, distinct, type FleetFilter, isFiltered, NO_FILTER } from './filter.ts';
import { GPU_STATES } from './gpu-states.ts';
import type { FleetHost } from './layout.ts';
import { StateMark } from './state-mark.tsx';

type FleetFiltersProps = {
  hosts: FleetHost[];
  filter: FleetFilter;
  onChange(filter: FleetFilter): void;
  showsList: boolean;
  onShowList(shows: boolean): void;
};

/** The search, and the legend: its entries count the GPUs of each state and filter by it. */
export function FleetFilters({
  hosts,
  filter,
  onChange,
  showsList,
  onShowList,
}: FleetFiltersProps) {
  const locations = useMemo(() => distinct(hosts.map(({ location }) => location)), [hosts]);
  const models = useMemo(
    () => distinct(hosts.flatMap(({ gpus }) => gpus.map(({ model }) => model))),
    [hosts],
  );
  const counts = useMemo(() => countStates(hosts, { ...filter, state: '' }), [hosts, filter]);
  const set = (change: Partial<FleetFilter>) => onChange({ ...filter, ...change });
  return (
    <div className="mb-3 flex flex-col gap-2">
      <div className="flex flex-wrap gap-2">
        <Input
          type="search"
          aria-label="Search hosts, racks and VMs"
          placeholder="Search hosts, racks and VMs"
          className="max-w-64 flex-1 basis-48"
          value={filter.text}
          onChange={(event) => set({ text: event.target.value })}
        />
        <Select
          aria-label="Location"
          className="!w-auto"
          value={filter.location}
          onChange={(event) => set({ location: event.target.value })}
        >
          <option value="">All locations</option>
          {locations.map((location) => (
            <option key={location}>{location}</option>
          ))}
        </Select>
        <Select
          aria-label="GPU model"
          className="!w-auto"
          value={filter.model}
          onChange={(event) => set({ model: event.target.value })}
        >
          <option value="">All models</option>
          {models.map((model) => (
            <option key={model}>{model}</option>
          ))}
        </Select>
        {isFiltered(filter) && (
          <Button look="ghost" onClick={() => onChange(NO_FILTER)}>
            Clear
          </Button>
        )}
        <Button className="ml-auto" onClick={() => onShowList(!showsList)}>
          {showsList ? 'Show the map' : 'Show a list'}
        </Button>
      </div>
      <fieldset className="flex flex-wrap gap-x-1 gap-y-1">
        <legend className="sr-only">Show only GPUs of one state</legend>
        {GPU_STATES.map(({ state, label, meaning }) => (
          <Button
            key={state}
            size="small"
            look={filter.state === state ? 'secondary' : 'ghost'}
            aria-pressed={filter.state === state}
            title={meaning}
            onClick={() => set({ state: filter.state === state ? '' : state })}
          >
            <StateMark state={state} />
            {label} <span className="text-text">{counts[state].toLocaleString('en')}</span>
          </Button>
        ))}
      </fieldset>
    </div>
  );
}
