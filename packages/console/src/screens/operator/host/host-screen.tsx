import type { Schemas } from '@gantry/sdk';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { Badge, Chip } from '../../../components/badge.tsx';
import { ErrorNote } from '../../../components/error-note.tsx';
import { Loading } from '../../../components/loading.tsx';
import { Note } from '../../../components/note.tsx';
import { PageHeader } from '../../../components/page-header.tsx';
import { Facts, Panel } from '../../../components/panel.tsx';
import { RelativeTime } from '../../../components/relative-time.tsx';
import { describeHost } from './describe-host.ts';
import { DriftPanel } from './drift-panel.tsx';
import { EditLabels } from './edit-labels.tsx';
import { HostActions } from './host-actions.tsx';
import { oneHost } from './host-queries.ts';
import { Certificates, DeviceTable, PlacedVms } from './host-tables.tsx';
import { Topology } from './topology.tsx';

type Host = Schemas['HostDetails'];

/** One server: what it consists of, what runs on it, and what an operator can do with it. */
export function HostScreen() {
  const { hostId } = useParams({ from: '/shell/operator/hosts/$hostId' });
  const { data: host, error, refetch } = useQuery(oneHost(hostId));
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!host) return <Loading what="the host" />;
  const { label, tone } = describeHost(host);
  return (
    <>
      <PageHeader
        title={host.name}
        description={
          <span className="flex flex-wrap items-center gap-x-4 gap-y-1">
            <Badge tone={tone}>{label}</Badge>
            <span>{host.location}</span>
            {Object.entries(host.labels).map(([key, value]) => (
              <Chip key={key}>{value === '' ? key : `${key}: ${value}`}</Chip>
            ))}
          </span>
        }
        actions={
          <>
            <EditLabels host={host} />
            <HostActions host={host} />
          </>
        }
      />
      <div className="flex flex-col gap-4">
        {host.trouble !== '' && (
          <Note tone="warn">No new VM is placed here, because {host.trouble}.</Note>
        )}
        {host.drift.length > 0 && <DriftPanel host={host} />}
        <Panel title="Topology">
          <Topology host={host} />
        </Panel>
        <Panel title="VMs on this host">
          <PlacedVms vms={host.vms} />
        </Panel>
        <Panel title="Devices">
          <DeviceTable host={host} />
        </Panel>
        <div className="grid gap-4 lg:grid-cols-2">
          <Panel title="Software">
            <Software host={host} />
          </Panel>
          <Panel title="Certificates">
            <Certificates certificates={host.certificates} />
          </Panel>
        </div>
      </div>
    </>
  );
}

function Software({ host }: { host: Host }) {
  const { os, kernel, firmware, libvirt, command_line, iommu } = host.software;
  const known = (value: string) => value || <span className="text-muted">not reported</span>;
  return (
    <Facts
      items={[
        ['Agent', known(host.agent_version)],
        ['Last connected', <RelativeTime key="seen" at={host.last_seen_at} />],
        ['Operating system', known(os)],
        ['Kernel', known(kernel)],
        [
          'Kernel options',
          <code key="line" className="font-mono text-xs">
            {command_line || '–'}
          </code>,
        ],
        ['Firmware', known(firmware)],
        ['libvirt', known(libvirt)],
        ['IOMMU', known(iommu)],
        ['Disks on it', `${host.disks_gib.toLocaleString('en')} GiB`],
      ]}
    />
  );
}
