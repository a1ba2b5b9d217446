import type { Schemas } from '@gantry/sdk';
import { useQuery } from '@tanstack/react-query';
import { allHosts } from '../../api/admin-queries.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Loading } from '../../components/loading.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { type Column, Table } from '../../components/table.tsx';

type Host = Schemas['Host'];

export function HostList() {
  const { data: hosts, error, refetch } = useQuery(allHosts());
  return (
    <>
      <PageHeader
        title="Hosts"
        description="The servers of this installation, and whether they accept VMs."
      />
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {hosts ? (
        <Table
          label="Hosts"
          columns={COLUMNS}
          rows={hosts}
          rowId={({ id }) => id}
          empty="No host has joined yet."
        />
      ) : (
        !error && <Loading what="the hosts" />
      )}
    </>
  );
}

const COLUMNS: Column<Host>[] = [
  {
    id: 'name',
    header: 'Name',
    sortBy: ({ name }) => name,
    cell: ({ name }) => <span className="font-medium">{name}</span>,
  },
  {
    id: 'location',
    header: 'Location',
    sortBy: ({ location }) => location,
    cell: ({ location }) => location,
  },
  {
    id: 'state',
    header: 'State',
    sortBy: ({ state }) => state,
    cell: ({ state, connected }) => (
      <Badge tone={toneOf(state, connected)}>{connected ? state : `${state}, not connected`}</Badge>
    ),
  },
  {
    id: 'gpus',
    header: 'GPUs',
    align: 'right',
    sortBy: ({ gpus }) => gpus.length,
    cell: ({ gpus }) => gpus.length,
  },
];

function toneOf(state: string, connected: boolean): Tone {
  if (!connected) return 'bad';
  return state === 'ready' ? 'good' : 'warn';
}
