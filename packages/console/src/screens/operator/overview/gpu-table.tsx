import type { Schemas } from '@gantry/sdk';
import { type Column, Table } from '../../../components/table.tsx';
import { GPU_STATES } from '../fleet-map/gpu-states.ts';

type Capacity = Schemas['Capacity'];

export function GpuTable({ gpus }: { gpus: Capacity[] }) {
  return (
    <Table
      label="GPUs by model and location"
      columns={COLUMNS}
      rows={gpus}
      rowId={({ location, model }) => `${location} ${model}`}
      empty="No host has reported a GPU yet."
    />
  );
}

const COLUMNS: Column<Capacity>[] = [
  {
    id: 'model',
    header: 'Model',
    sortBy: ({ model }) => model,
    cell: ({ model }) => <span className="font-medium">{model}</span>,
  },
  {
    id: 'location',
    header: 'Location',
    wide: true,
    sortBy: ({ location }) => location,
    cell: ({ location }) => location,
  },
  ...GPU_STATES.map(
    ({ state, label }): Column<Capacity> => ({
      id: state,
      header: label,
      align: 'right',
      sortBy: (row) => row[state],
      cell: (row) => row[state].toLocaleString('en'),
    }),
  ),
  {
    id: 'whole',
    header: 'Free on empty hosts',
    align: 'right',
    wide: true,
    sortBy: ({ free_on_whole_hosts }) => free_on_whole_hosts,
    cell: ({ free_on_whole_hosts }) => free_on_whole_hosts.toLocaleString('en'),
  },
];
