import type { Schemas } from '@gantry/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { locations } from '../../api/catalogue-queries.ts';
import { allDisks, allVms } from '../../api/project-queries.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Loading } from '../../components/loading.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { RelativeTime } from '../../components/relative-time.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { CreateDisk } from './create-disk.tsx';
import { DiskActions } from './disk-actions.tsx';
import { showSize, sizeInGib } from './disk-size.ts';

type Disk = Schemas['Disk'];
type Vm = Schemas['Vm'];

const STATES: Record<Disk['state'], [label: string, tone: Tone]> = {
  creating: ['Creating', 'busy'],
  ready: ['Ready', 'good'],
  resizing: ['Growing', 'busy'],
  deleting: ['Deleting', 'busy'],
};

/** A disk in network storage outlives the host of its VM. */
const STORAGES: Record<Disk['storage'], string> = { network: 'Network', local: 'Local to a host' };

/** The disks of a project, those of its VMs included. */
export function DiskList() {
  const { projectId } = useParams({ from: '/shell/projects/$projectId/disks' });
  const { data: disks, error, refetch } = useQuery(allDisks(projectId));
  const { data: vms = [] } = useQuery(allVms(projectId));
  const { data: places = [] } = useQuery(locations());
  const create = <CreateDisk projectId={projectId} locations={places} />;
  return (
    <>
      <PageHeader title="Disks" actions={create} />
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {disks === undefined && !error && <Loading what="the disks" />}
      {disks?.length === 0 && (
        <EmptyState title="This project has no disk yet" action={create}>
          A disk keeps its content when the VM that uses it is deleted.
        </EmptyState>
      )}
      {disks !== undefined && disks.length > 0 && (
        <Table
          label="Disks"
          columns={columnsOf(projectId, vms)}
          rows={disks}
          rowId={({ id }) => id}
        />
      )}
    </>
  );
}

function columnsOf(projectId: string, vms: readonly Vm[]): Column<Disk>[] {
  return [
    {
      id: 'name',
      header: 'Name',
      sortBy: ({ name }) => name,
      cell: ({ name, attachment_type, vm_ids }) => (
        <>
          <span className="font-medium">{name}</span>
          {attachment_type === 'os' && <span className="text-muted"> · OS disk</span>}
          {/* Narrow screens have no column for it. */}
          <span className="block text-muted md:hidden">
            <AttachedTo projectId={projectId} vmIds={vm_ids} vms={vms} />
          </span>
        </>
      ),
    },
    {
      id: 'state',
      header: 'State',
      sortBy: ({ state }) => state,
      cell: ({ state }) => {
        const [label, tone] = STATES[state] ?? [state, 'idle'];
        return <Badge tone={tone}>{label}</Badge>;
      },
    },
    {
      id: 'size',
      header: 'Size',
      sortBy: ({ size }) => sizeInGib(size),
      cell: ({ size }) => <span className="whitespace-nowrap">{showSize(size)}</span>,
    },
    {
      id: 'type',
      header: 'Type',
      wide: true,
      sortBy: ({ type }) => type,
      cell: ({ type }) => type,
    },
    {
      id: 'storage',
      header: 'Storage',
      wide: true,
      sortBy: ({ storage }) => storage,
      cell: ({ storage }) => STORAGES[storage] ?? storage,
    },
    {
      id: 'location',
      header: 'Location',
      wide: true,
      sortBy: ({ location }) => location,
      cell: ({ location }) => location,
    },
    {
      id: 'vms',
      header: 'Attached to',
      wide: true,
      cell: ({ vm_ids }) => <AttachedTo projectId={projectId} vmIds={vm_ids} vms={vms} />,
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
      cell: (disk) => <DiskActions projectId={projectId} disk={disk} vms={vms} />,
    },
  ];
}

type AttachedToProps = { projectId: string; vmIds: string[]; vms: readonly Vm[] };

function AttachedTo({ projectId, vmIds, vms }: AttachedToProps) {
  if (vmIds.length === 0) return <span className="text-muted">no VM</span>;
  return (
    <span className="flex flex-wrap gap-x-2">
      {vmIds.map((vmId) => (
        <Link
          key={vmId}
          to="/projects/$projectId/vms/$vmId"
          params={{ projectId, vmId }}
          className="hover:underline"
        >
          {vms.find(({ id }) => id === vmId)?.name ?? vmId}
        </Link>
      ))}
    </span>
  );
}
