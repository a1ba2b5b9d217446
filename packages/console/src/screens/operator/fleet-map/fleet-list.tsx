import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Badge } from '../../../components/badge.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { countStates, type FleetFilter } from './filter.ts';
import { GPU_STATES } from './gpu-states.ts';
import type { FleetHost, GpuState } from './layout.ts';

type Row = { host: FleetHost; counts: Record<GpuState, number> };

/** The same hosts as on the map, for those who cannot use a picture. */
export function FleetList({ hosts, filter }: { hosts: FleetHost[]; filter: FleetFilter }) {
  const rows = useMemo(
    () =>
      hosts
        .map((host) => ({ host, counts: countStates([host], filter) }))
        .filter(({ counts }) => Object.values(counts).some((count) => count > 0)),
    [hosts, filter],
  );
  return (
    <Table
      label="Hosts and their GPUs"
      columns={COLUMNS}
      rows={rows}
      rowId={({ host }) => host.id}
      empty="No GPU matches."
    />
  );
}

const COLUMNS: Column<Row>[] = [
  {
    id: 'name',
    header: 'Host',
    sortBy: ({ host }) => host.name,
    cell: ({ host }) => (
      <Link
        to="/operator/hosts/$hostId"
        params={{ hostId: host.id }}
        className="font-medium hover:underline"
      >
        {host.name}
      </Link>
    ),
  },
  {
    id: 'location',
    header: 'Location',
    wide: true,
    sortBy: ({ host }) => host.location,
    cell: ({ host }) => host.location,
  },
  {
    id: 'rack',
    header: 'Rack',
    wide: true,
    sortBy: ({ host }) => host.rack,
    cell: ({ host }) => host.rack,
  },
  {
    id: 'takes',
    header: 'Takes new VMs',
    wide: true,
    sortBy: ({ host }) => host.closed_reason,
    cell: ({ host }) => (
      <Badge tone={host.closed_reason === '' ? 'good' : 'bad'}>
        {host.closed_reason === '' ? 'Yes' : `No: ${host.closed_reason}`}
      </Badge>
    ),
  },
  ...GPU_STATES.map(
    ({ state, label }): Column<Row> => ({
      id: state,
      header: label,
      align: 'right',
      sortBy: ({ counts }) => counts[state],
      cell: ({ counts }) => counts[state],
    }),
  ),
];
