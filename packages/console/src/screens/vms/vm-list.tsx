import type { Schemas } from '@gantry/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { allVms } from '../../api/project-queries.ts';
import { Badge, Chip } from '../../components/badge.tsx';
import { buttonClass } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Loading } from '../../components/loading.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { RelativeTime } from '../../components/relative-time.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { describeVmState } from '../../format/vm-state.ts';
import { VmActions } from './vm-actions.tsx';
import { matchesFilter, type VmFilter, VmFilters } from './vm-filters.tsx';

type Vm = Schemas['Vm'];

export function VmList() {
  const { projectId } = useParams({ from: '/shell/projects/$projectId/vms' });
  const filter = useSearch({ from: '/shell/projects/$projectId/vms' });
  const navigate = useNavigate({ from: '/projects/$projectId/vms' });
  const { data: vms, error, refetch } = useQuery(allVms(projectId));
  const create = (
    <Link
      to="/projects/$projectId/vms/new"
      params={{ projectId }}
      className={buttonClass('primary')}
    >
      Create VM
    </Link>
  );
  const change = (search: VmFilter) => void navigate({ search, replace: true });
  return (
    <>
      <PageHeader title="Virtual machines" actions={create} />
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {vms === undefined && !error && <Loading what="the VMs" />}
      {vms?.length === 0 && (
        <EmptyState title="This project has no VM yet" action={create}>
          A VM gets whole GPUs, an address and a disk, and runs within minutes.
        </EmptyState>
      )}
      {vms !== undefined && vms.length > 0 && (
        <>
          <VmFilters vms={vms} filter={filter} onChange={change} />
          <Table
            label="Virtual machines"
            columns={COLUMNS}
            rows={vms.filter((vm) => matchesFilter(vm, filter))}
            rowId={({ id }) => id}
            empty="No VM matches the filter."
          />
        </>
      )}
    </>
  );
}

const COLUMNS: Column<Vm>[] = [
  {
    id: 'name',
    header: 'Name',
    sortBy: ({ name }) => name,
    cell: ({ id, name, project_id }) => (
      <Link
        to="/projects/$projectId/vms/$vmId"
        params={{ projectId: project_id, vmId: id }}
        className="font-medium hover:underline"
      >
        {name}
      </Link>
    ),
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
  {
    id: 'actions',
    header: 'Actions',
    quiet: true,
    align: 'right',
    cell: (vm) => <VmActions vm={vm} look="menu" />,
  },
];
