import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Badge } from '../../../components/badge.tsx';
import { EmptyState } from '../../../components/empty-state.tsx';
import { ErrorNote } from '../../../components/error-note.tsx';
import { Loading } from '../../../components/loading.tsx';
import { Note } from '../../../components/note.tsx';
import { PageHeader } from '../../../components/page-header.tsx';
import { Facts, Panel } from '../../../components/panel.tsx';
import { RelativeTime } from '../../../components/relative-time.tsx';
import { labelOf } from '../fleet-map/gpu-states.ts';
import { StateMark } from '../fleet-map/state-mark.tsx';
import { blockedReason, type Device, deviceUse, isGpu, nameOf } from '../host/device-state.ts';
import { oneHost } from '../host/host-queries.ts';
import { LinkWidth } from '../host/host-tables.tsx';
import { DeviceActions } from './device-actions.tsx';
import { DeviceCharts } from './device-charts.tsx';
import { Receipts } from './receipts.tsx';

/** One GPU or drive: whether it can be sold, its problems, how it changed, and how it was cleaned after each VM. */
export function DeviceScreen() {
  const { hostId, deviceId } = useParams({
    from: '/shell/operator/hosts/$hostId/devices/$deviceId',
  });
  const { data: host, error, refetch } = useQuery(oneHost(hostId));
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!host) return <Loading what="the device" />;
  const device = [...host.gpus, ...host.drives].find(({ id }) => id === deviceId);
  if (!device) {
    return <EmptyState title="This host has no such device">It may have been removed.</EmptyState>;
  }
  const use = deviceUse(device, host);
  const holder = host.vms.find(({ id }) => id === device.vm_id)?.name ?? device.vm_id;
  return (
    <>
      <PageHeader
        title={nameOf(device)}
        description={
          <span className="flex flex-wrap items-center gap-x-4 gap-y-1">
            <span className="inline-flex items-center gap-1.5">
              <StateMark state={use} />
              {labelOf(use)}
              {use === 'sold' && ` by ${holder}`}
            </span>
            <span className="font-mono">{device.pci_address}</span>
            <Link
              to="/operator/hosts/$hostId"
              params={{ hostId }}
              className="text-accent hover:underline"
            >
              {host.name}
            </Link>
          </span>
        }
        actions={<DeviceActions hostId={hostId} device={device} />}
      />
      <div className="flex flex-col gap-4">
        {use === 'blocked' && (
          <Note tone="bad">No VM can get it: {blockedReason(device, host)}.</Note>
        )}
        <div className="grid gap-4 lg:grid-cols-2">
          <Panel title="Problems">
            <Problems device={device} />
          </Panel>
          <Panel title="Hardware">
            <Facts items={factsOf(device)} />
          </Panel>
        </div>
        <DeviceCharts deviceId={deviceId} />
        <Receipts deviceId={deviceId} />
      </div>
    </>
  );
}

function Problems({ device: { problems } }: { device: Device }) {
  if (problems.length === 0) return <p className="text-muted">No problem is known.</p>;
  return (
    <ul className="flex flex-col divide-y divide-line">
      {problems.map(({ rule, severity, message, since, until_released }) => (
        <li key={rule} className="py-2 first:pt-0 last:pb-0">
          <Badge tone={severity === 'block' ? 'bad' : 'warn'}>
            {severity === 'block' ? 'Keeps it from new VMs' : 'Only a warning'}
          </Badge>
          <p className="break-words">{message}</p>
          <p className="text-sm text-muted">
            Since <RelativeTime at={since} />
            {until_released && '. It lasts until the device is released.'}
          </p>
        </li>
      ))}
    </ul>
  );
}

function factsOf(device: Device): [string, ReactNode][] {
  const { health } = device;
  const count = (errors: number) => (errors < 0 ? 'not reported' : errors.toLocaleString('en'));
  return [
    ['NUMA node', device.numa_node < 0 ? 'not named by the firmware' : device.numa_node],
    ...(isGpu(device)
      ? ([
          ['PCIe switch', device.pcie_switch || 'none'],
          [
            'IOMMU group',
            device.iommu_group < 0 ? 'none, so no VM can get it' : device.iommu_group,
          ],
          ['NVLink to', device.nvlink_peer || 'none'],
        ] as [string, ReactNode][])
      : ([['Serial number', device.serial || 'not known']] as [string, ReactNode][])),
    ['PCIe link', <LinkWidth key="link" health={health} />],
    ['Correctable errors', count(health.correctable_errors)],
    ['Non-fatal errors', count(health.nonfatal_errors)],
    ['Fatal errors', count(health.fatal_errors)],
    ['Driver', health.driver || 'none'],
    ['Ways to reset it', health.reset_methods.join(', ') || 'none'],
  ];
}
