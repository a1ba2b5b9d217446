import type { Schemas } from '@gantry/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { allHosts } from '../../api/admin-queries.ts';
import { Badge } from '../../components/badge.tsx';
import { buttonClass } from '../../components/button.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Loading } from '../../components/loading.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { describeHost } from './host/describe-host.ts';

type Host = Schemas['Host'];

export function HostList() {
  const { data: hosts, error, refetch } = useQuery(allHosts());
  return (
    <>
      <PageHeader
        title="Hosts"
        description="The servers of this installation, and whether they accept VMs."
        actions={
          <Link to="/operator/join" className={buttonClass('primary')}>
            Join a host
          </Link>
        }
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
    cell: ({ id, name }) => (
      <Link
        to="/operator/hosts/$hostId"
        params={{ hostId: id }}
        className="font-medium hover:underline"
      >
        {name}
      </Link>
    ),
  },
  {
    id: 'location',
    header: 'Location',
    wide: true,
    sortBy: ({ location }) => location,
    cell: ({ location }) => location,
  },
  {
    id: 'state',
    header: 'State',
    sortBy: (host) => describeHost(host).label,
    cell: (host) => {
      const { label, tone } = describeHost(host);
      return <Badge tone={tone}>{label}</Badge>;
    },
  },
  {
    id: 'agent',
    header: 'Agent',
    wide: true,
    sortBy: ({ agent_version }) => agent_version,
    cell: ({ agent_version }) => agent_version,
  },
  {
    id: 'vms',
    header: 'VMs',
    align: 'right',
    sortBy: ({ vm_count }) => vm_count,
    cell: ({ vm_count }) => vm_count,
  },
  {
    id: 'gpus',
    header: 'GPUs',
    align: 'right',
    sortBy: ({ gpus }) => gpus.length,
    cell: ({ gpus }) => gpus.length,
  },
];
