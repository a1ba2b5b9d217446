import type { Schemas } from '@gantry/sdk';
import { useNavigate } from '@tanstack/react-router';
import { useCallback, useMemo, useState } from 'react';
import { ErrorNote } from '../../../components/error-note.tsx';
import { Loading } from '../../../components/loading.tsx';
import { Panel } from '../../../components/panel.tsx';
import { FleetCanvas } from '../fleet-map/fleet-canvas.tsx';
import { GpuTip } from '../fleet-map/gpu-tip.tsx';
import type { FleetHost, Hit } from '../fleet-map/layout.ts';
import { useFleet } from '../fleet-map/use-fleet.ts';

type Explanation = Schemas['PlacementExplanation'];
type PlacementMapProps = Pick<Explanation, 'placement' | 'hosts'>;

/** The hosts of the location on the fleet map, with a mark on the GPUs that the VM would get. */
export function PlacementMap({ placement, hosts: explained }: PlacementMapProps) {
  const { data, error, refetch } = useFleet();
  const { host_id, host_name, gpus } = placement;
  const hosts = useMemo(() => {
    const location = data?.find(({ id }) => id === host_id)?.location;
    return data?.filter((host) => host.location === location);
  }, [data, host_id]);
  const unfit = useMemo(
    () => new Set(explained.filter(({ fits }) => !fits).map((host) => host.host_id)),
    [explained],
  );
  const addresses = gpus.map(({ pci_address }) => pci_address);
  return (
    <Panel title="On the fleet map" actions={<Legend />}>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {hosts === undefined && !error && <Loading what="the fleet" />}
      {hosts !== undefined && (
        <MarkedMap
          hosts={hosts}
          unfit={unfit}
          chosen={{ hostId: host_id, addresses }}
          label={`Fleet map. The chosen GPUs are on ${host_name}: ${addresses.join(', ')}`}
        />
      )}
    </Panel>
  );
}

type MarkedMapProps = {
  hosts: FleetHost[];
  unfit: ReadonlySet<string>;
  chosen: { hostId: string; addresses: string[] };
  label: string;
};

function MarkedMap({ hosts, unfit, chosen, label }: MarkedMapProps) {
  const navigate = useNavigate();
  const [pointed, setPointed] = useState<(Hit & { at: { x: number; y: number } }) | null>(null);
  const fits = useCallback((host: FleetHost) => !unfit.has(host.id), [unfit]);
  return (
    <div className="relative h-72 rounded-lg border border-line bg-canvas">
      <FleetCanvas
        hosts={hosts}
        matches={fits}
        chosen={chosen}
        label={label}
        onOpen={({ id }) =>
          void navigate({ to: '/operator/hosts/$hostId', params: { hostId: id } })
        }
        onPoint={setPointed}
      />
      {pointed && <GpuTip hit={pointed} at={pointed.at} />}
    </div>
  );
}

function Legend() {
  return (
    <p className="flex items-baseline gap-x-1.5 text-sm text-muted">
      <svg aria-hidden="true" viewBox="0 0 12 12" className="size-3 shrink-0 text-accent">
        <rect
          x="1"
          y="1"
          width="10"
          height="10"
          stroke="currentColor"
          strokeWidth="2"
          fill="none"
        />
        <circle cx="6" cy="6" r="2.5" fill="currentColor" />
      </svg>
      The VM would get these GPUs. Hosts that do not fit are pale.
    </p>
  );
}
