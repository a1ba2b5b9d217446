import type { Schemas } from '@gantry/sdk';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { allVms } from '../../api/project-queries.ts';
import { Badge, Chip } from '../../components/badge.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Loading } from '../../components/loading.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { RelativeTime } from '../../components/relative-time.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { describeVmState } from '../../format/vm-state.ts';

type Vm = Schemas['Vm'];

export function VmList() {
  const { projectId } = useParams({ from: '/shell/projects/$projectId/vms' });
  const { data: vms, error, refetch } = useQuery(allVms(projectId));
  return (
    <>
      <PageHeader title="Virtual machines" />
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {vms === undefined && !error && <Loading what="the VMs" />}
      {vms?.length === 0 && (
        <EmptyState title="This project has no VM yet">
          A VM gets whole GPUs, an address and a disk, and runs within minutes.
        </EmptyState>
      )}
      {vms !== undefined && vms.length > 0 && (
        <Table label="Virtual machines" columns={COLUMNS} rows={vms} rowId={({ id }) => id} />
      )}
    </>
  );
}

const COLUMNS: Column<Vm>[] = [
  {
    id: 'name',
    header: 'Name',
    sortBy: ({ name }) => name,
    cell: ({ name }) => <span className="font-medium">{name}</span>,
  },
  {
    id: 'state',
    header: 'State',
    sortBy: ({ state }) => describeVmState(state).label,
    cell: ({ state }) => {
      const { label, tone } = describeVmState(state);
      return <Badge tone={tone}>{label}</Badge>;
    },
  },
  { id: 'type', header: 'Type', sortBy: ({ type }) => type, cell: ({ type }) => type },
  {
    id: 'location',
    header: 'Location',
    wide: true,
    sortBy: ({ location }) => location,
    cell: ({ location }) => location,
  },
  {
    id: 'address',
    header: 'Address',
    wide: true,
    cell: ({ ssh_destination }) => <span className="font-mono">{ssh_destination}</span>,
  },
  {
    id: 'tags',
    header: 'Tags',
    wide: true,
    cell: ({ tags }) => (
      <span className="flex flex-wrap gap-1">
        {Object.entries(tags).map(([key, value]) => (
          <Chip key={key}>{value === '' ? key : `${key}: ${value}`}</Chip>
        ))}
      </span>
    ),
  },
  {
    id: 'created',
    header: 'Created',
    wide: true,
    sortBy: ({ created_at }) => created_at,
    cell: ({ created_at }) => <RelativeTime at={created_at} />,
  },
];
