import type { Schemas } from '@gantry/sdk';
import { Link } from '@tanstack/react-router';
import { Badge } from '../../../components/badge.tsx';
import { RelativeTime } from '../../../components/relative-time.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { describeVmState } from '../../../format/vm-state.ts';
import { labelOf } from '../fleet-map/gpu-states.ts';
import { StateMark } from '../fleet-map/state-mark.tsx';
import { blockedReason, type Device, deviceUse, nameOf } from './device-state.ts';

type Host = Schemas['HostDetails'];
type PlacedVm = Host['vms'][number];
type Certificate = Host['certificates'][number];

export function PlacedVms({ vms }: { vms: PlacedVm[] }) {
  return (
    <Table
      label="VMs on this host"
      columns={VM_COLUMNS}
      rows={vms}
      rowId={({ id }) => id}
      empty="No VM is placed here."
    />
  );
}

const VM_COLUMNS: Column<PlacedVm>[] = [
  {
    id: 'name',
    header: 'Name',
    sortBy: ({ name }) => name,
    cell: ({ name }) => <span className="font-medium">{name}</span>,
  },
  {
    id: 'state',
    header: 'State',
    sortBy: ({ state }) => state,
    cell: ({ state }) => {
      const { label, tone } = describeVmState(state);
      return <Badge tone={tone}>{label}</Badge>;
    },
  },
  {
    id: 'project',
    header: 'Project',
    wide: true,
    cell: ({ project_id }) => <span className="font-mono text-xs">{project_id}</span>,
  },
];

type DeviceRow = { device: Device; host: Host };

export function DeviceTable({ host }: { host: Host }) {
  const rows: DeviceRow[] = [...host.gpus, ...host.drives].map((device) => ({ device, host }));
  return (
    <Table
      label="Devices of this host"
      columns={DEVICE_COLUMNS}
      rows={rows}
      rowId={({ device }) => device.id}
      empty="The host has not reported a device yet."
    />
  );
}

const DEVICE_COLUMNS: Column<DeviceRow>[] = [
  {
    id: 'name',
    header: 'Device',
    sortBy: ({ device }) => nameOf(device),
    cell: ({ device, host }) => (
      <Link
        to="/operator/hosts/$hostId/devices/$deviceId"
        params={{ hostId: host.id, deviceId: device.id }}
        className="font-medium hover:underline"
      >
        {nameOf(device)}
      </Link>
    ),
  },
  {
    id: 'address',
    header: 'PCI address',
    wide: true,
    sortBy: ({ device }) => device.pci_address,
    cell: ({ device }) => <span className="font-mono">{device.pci_address}</span>,
  },
  {
    id: 'state',
    header: 'State',
    sortBy: ({ device, host }) => deviceUse(device, host),
    cell: ({ device, host }) => (
      <span className="inline-flex items-center gap-1.5">
        <StateMark state={deviceUse(device, host)} />
        {labelOf(deviceUse(device, host))}
      </span>
    ),
  },
  {
    id: 'detail',
    header: 'Holder or reason',
    wide: true,
    cell: ({ device, host }) =>
      host.vms.find(({ id }) => id === device.vm_id)?.name ??
      (device.vm_id || blockedReason(device, host)),
  },
  {
    id: 'link',
    header: 'PCIe link',
    wide: true,
    cell: ({ device: { health } }) => <LinkWidth health={health} />,
  },
];

/** A link that is slower than it can be is often a card that is not seated well. */
export function LinkWidth({ health }: { health: Device['health'] }) {
  const { link_speed_gts: speed, max_link_speed_gts: most, link_width: width } = health;
  if (speed < 0 || width < 0) return <span className="text-muted">not reported</span>;
  const isSlow = speed < most || width < health.max_link_width;
  return (
    <Badge tone={isSlow ? 'warn' : 'good'}>
      {speed} GT/s × {width}
      {isSlow && `, could be ${most} GT/s × ${health.max_link_width}`}
    </Badge>
  );
}

export function Certificates({ certificates }: { certificates: Certificate[] }) {
  return (
    <Table
      label="Certificates of this host"
      columns={CERTIFICATE_COLUMNS}
      rows={certificates}
      rowId={({ serial }) => serial}
      empty="The host has no certificate."
    />
  );
}

const CERTIFICATE_COLUMNS: Column<Certificate>[] = [
  {
    id: 'serial',
    header: 'Serial number',
    cell: ({ serial }) => (
      <span className="font-mono text-xs" title={serial}>
        {serial.slice(0, 12)}…
      </span>
    ),
  },
  {
    id: 'ends',
    header: 'Valid until',
    sortBy: ({ not_after }) => not_after,
    cell: ({ not_after, revoked_at }) =>
      revoked_at === '' ? <RelativeTime at={not_after} /> : <Badge tone="bad">Revoked</Badge>,
  },
];
