import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Badge } from '../../../components/badge.tsx';
import { ErrorNote } from '../../../components/error-note.tsx';
import { Loading } from '../../../components/loading.tsx';
import { PageHeader } from '../../../components/page-header.tsx';
import { RelativeTime } from '../../../components/relative-time.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { countsText, describeRollout, type Rollout, waveText } from './describe-rollout.ts';
import { allRollouts } from './rollout-queries.ts';

export function RolloutList() {
  const { data: rollouts, error, refetch } = useQuery(allRollouts());
  return (
    <>
      <PageHeader
        title="Rollouts"
        description="Versions of the agent, brought to hosts in waves. VMs run on."
      />
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {rollouts ? (
        <Table
          label="Rollouts"
          columns={COLUMNS}
          rows={rollouts}
          rowId={({ id }) => id}
          empty="There is no rollout yet. Begin one with gantry rollout create."
        />
      ) : (
        !error && <Loading what="the rollouts" />
      )}
    </>
  );
}

const COLUMNS: Column<Rollout>[] = [
  {
    id: 'version',
    header: 'Version',
    cell: ({ id, version }) => (
      <Link
        to="/operator/rollouts/$rolloutId"
        params={{ rolloutId: id }}
        className="font-medium hover:underline"
      >
        {version}
      </Link>
    ),
  },
  {
    id: 'state',
    header: 'State',
    cell: (rollout) => {
      const { label, tone } = describeRollout(rollout);
      return <Badge tone={tone}>{label}</Badge>;
    },
  },
  { id: 'wave', header: 'Wave', cell: waveText },
  { id: 'hosts', header: 'Hosts', cell: countsText },
  {
    id: 'created',
    header: 'Begun',
    cell: ({ created_at }) => <RelativeTime at={created_at} />,
  },
];
