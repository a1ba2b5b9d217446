import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { adminKey } from '../../../api/admin-queries.ts';
import { useStreamedEvents } from '../../../api/event-stream.ts';
import { invalidateSoon } from '../../../api/invalidate-soon.ts';
import { ErrorNote } from '../../../components/error-note.tsx';
import { Loading } from '../../../components/loading.tsx';
import { PageHeader } from '../../../components/page-header.tsx';
import { Panel } from '../../../components/panel.tsx';
import { CapacityChart } from './capacity-chart.tsx';
import { FailedOperations } from './failed-operations.tsx';
import { GpuTable } from './gpu-table.tsx';
import { LastEvents } from './last-events.tsx';
import { fleetSummary } from './overview-queries.ts';
import { Tiles } from './tiles.tsx';

const COUNTED: ReadonlySet<string> = new Set(['host', 'devices', 'vm', 'operation']);

/** What an operator wants to know first: what is left to sell, and what needs attention. */
export function Overview() {
  const queryClient = useQueryClient();
  const { data, error, refetch } = useQuery(fleetSummary());
  useStreamedEvents(({ type }) => {
    if (COUNTED.has(type)) invalidateSoon(queryClient, adminKey('summary'));
  });
  return (
    <>
      <PageHeader
        title="Overview"
        description="What is left to sell, and what needs attention."
        actions={
          <Link to="/operator/map" className="text-accent hover:underline">
            Fleet map
          </Link>
        }
      />
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data === undefined && !error && <Loading what="the overview" />}
      {data && (
        <div className="flex flex-col gap-4">
          <Tiles summary={data} />
          <Panel title="GPUs by model">
            <GpuTable gpus={data.gpus} />
          </Panel>
          <CapacityChart />
          <div className="grid gap-4 lg:grid-cols-2">
            <FailedOperations />
            <LastEvents />
          </div>
        </div>
      )}
    </>
  );
}
