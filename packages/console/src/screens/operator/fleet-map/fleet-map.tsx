import { useNavigate } from '@tanstack/react-router';
import { useCallback, useDeferredValue, useState } from 'react';
import { EmptyState } from '../../../components/empty-state.tsx';
import { ErrorNote } from '../../../components/error-note.tsx';
import { Loading } from '../../../components/loading.tsx';
import { PageHeader } from '../../../components/page-header.tsx';
import { type FleetFilter, isFiltered, matches, NO_FILTER } from './filter.ts';
import { FleetCanvas } from './fleet-canvas.tsx';
import { FleetFilters } from './fleet-filters.tsx';
import { FleetList } from './fleet-list.tsx';
import { GpuTip } from './gpu-tip.tsx';
import type { Cell, FleetHost, Hit } from './layout.ts';
import { useFleet } from './use-fleet.ts';

/** Every GPU of the installation on one picture, and the same as a list. */
export function FleetMap() {
  const { data: hosts, error, refetch } = useFleet();
  return (
    <>
      <PageHeader
        title="Fleet map"
        description="Every GPU, in its host and rack. Drag to move, scroll to zoom, click a host to open it."
      />
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {hosts === undefined && !error && <Loading what="the fleet" />}
      {hosts?.length === 0 && (
        <EmptyState title="No host has joined yet">
          A host appears here as soon as it has joined. Its label “rack” says where it is drawn.
        </EmptyState>
      )}
      {hosts !== undefined && hosts.length > 0 && <MapAndList hosts={hosts} />}
    </>
  );
}

function MapAndList({ hosts }: { hosts: FleetHost[] }) {
  const navigate = useNavigate();
  const [filter, setFilter] = useState(NO_FILTER);
  const [pointed, setPointed] = useState<(Hit & { at: { x: number; y: number } }) | null>(null);
  const [showsList, setShowsList] = useState(false);
  const settled: FleetFilter = useDeferredValue(filter);
  const isMatch = useCallback(
    (host: FleetHost, cell: Cell) => matches(settled, host, cell),
    [settled],
  );
  const open = ({ id }: FleetHost) =>
    void navigate({ to: '/operator/hosts/$hostId', params: { hostId: id } });
  return (
    <>
      <FleetFilters
        hosts={hosts}
        filter={filter}
        onChange={setFilter}
        showsList={showsList}
        onShowList={setShowsList}
      />
      {showsList ? (
        <FleetList hosts={hosts} filter={settled} />
      ) : (
        <div className="relative h-[70vh] md:h-[max(22rem,calc(100vh-13rem))] rounded-lg border border-line bg-canvas">
          <FleetCanvas hosts={hosts} matches={isMatch} onOpen={open} onPoint={setPointed} />
          {pointed && <GpuTip hit={pointed} at={pointed.at} />}
        </div>
      )}
      {isFiltered(filter) && !showsList && (
        <p className="mt-2 text-sm text-muted">GPUs that do not match are pale.</p>
      )}
    </>
  );
}
