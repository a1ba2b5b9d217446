import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Badge } from '../../../components/badge.tsx';
import { ErrorNote } from '../../../components/error-note.tsx';
import { Loading } from '../../../components/loading.tsx';
import { Note } from '../../../components/note.tsx';
import { PageHeader } from '../../../components/page-header.tsx';
import { Facts, Panel } from '../../../components/panel.tsx';
import { RelativeTime } from '../../../components/relative-time.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import {
  countsText,
  describeRollout,
  describeRolloutHost,
  progressOf,
  type Rollout,
  type RolloutHost,
  waveText,
} from './describe-rollout.ts';
import { RolloutActions } from './rollout-actions.tsx';
import { hostsOfRollout, oneRollout } from './rollout-queries.ts';

/** One rollout: how far it is, which hosts failed and why, and how to go on. */
export function RolloutScreen() {
  const { rolloutId } = useParams({ from: '/shell/operator/rollouts/$rolloutId' });
  const { data: rollout, error, refetch } = useQuery(oneRollout(rolloutId));
  const hosts = useQuery(hostsOfRollout(rolloutId));
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!rollout) return <Loading what="the rollout" />;
  const { label, tone } = describeRollout(rollout);
  return (
    <>
      <PageHeader
        title={`Rollout of ${rollout.version}`}
        description={<Badge tone={tone}>{label}</Badge>}
        actions={<RolloutActions rollout={rollout} />}
      />
      <div className="flex flex-col gap-4">
        {rollout.state_reason !== '' && <Note tone="warn">{rollout.state_reason}</Note>}
        <div className="grid gap-4 lg:grid-cols-2">
          <Panel title="Progress">
            <Progress rollout={rollout} />
          </Panel>
          <Panel title="Plan">
            <Facts items={factsOf(rollout)} />
          </Panel>
        </div>
        {hosts.error && <ErrorNote error={hosts.error} onRetry={() => void hosts.refetch()} />}
        {hosts.data && (
          <Table
            label="Hosts of the rollout"
            columns={COLUMNS}
            rows={hosts.data}
            rowId={({ host_id }) => host_id}
            empty="No host was selected."
          />
        )}
      </div>
    </>
  );
}

/** Browsers have their own names for the two parts of the bar. */
const BAR =
  'h-2 w-full appearance-none overflow-hidden rounded-full border border-line bg-hover ' +
  '[&::-webkit-progress-bar]:bg-hover [&::-webkit-progress-value]:bg-accent [&::-moz-progress-bar]:bg-accent';

function Progress({ rollout }: { rollout: Rollout }) {
  const { ended, all } = progressOf(rollout);
  return (
    <div className="flex flex-col gap-2">
      <p>
        Wave {waveText(rollout)}: {countsText(rollout)}
      </p>
      <progress
        aria-label="Hosts that need nothing more"
        className={BAR}
        value={ended}
        max={Math.max(all, 1)}
      />
    </div>
  );
}

function factsOf(rollout: Rollout): [string, ReactNode][] {
  const labels = Object.entries(rollout.labels).map(([name, value]) => `${name}: ${value}`);
  return [
    ['Hosts', labels.join(', ') || 'all'],
    ['Canaries', rollout.canary_count],
    ['Hosts at a time', rollout.batch_size],
    ['Time limit of a host', `${rollout.host_time_limit_seconds} s`],
    ['Pauses after', `more than ${rollout.max_failures} failed`],
    ['Begun', <RelativeTime key="begun" at={rollout.created_at} />],
    ['Ended', rollout.ended_at ? <RelativeTime key="ended" at={rollout.ended_at} /> : 'not yet'],
  ];
}

const COLUMNS: Column<RolloutHost>[] = [
  {
    id: 'name',
    header: 'Host',
    sortBy: ({ name }) => name,
    cell: ({ host_id, name }) => (
      <Link
        to="/operator/hosts/$hostId"
        params={{ hostId: host_id }}
        className="font-medium hover:underline"
      >
        {name}
      </Link>
    ),
  },
  {
    id: 'wave',
    header: 'Wave',
    align: 'right',
    wide: true,
    sortBy: ({ wave }) => wave,
    cell: ({ wave }) => wave + 1,
  },
  {
    id: 'state',
    header: 'State',
    sortBy: (host) => describeRolloutHost(host).label,
    cell: (host) => {
      const { label, tone } = describeRolloutHost(host);
      return <Badge tone={tone}>{label}</Badge>;
    },
  },
  { id: 'from', header: 'From', wide: true, cell: ({ from_version }) => from_version },
  { id: 'now', header: 'Now', wide: true, cell: ({ agent_version }) => agent_version },
  { id: 'reason', header: 'Reason', cell: ({ reason }) => reason },
];
