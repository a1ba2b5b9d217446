import type { Schemas } from '@gantry/sdk';
import { Link } from '@tanstack/react-router';
import { labelOf } from '../fleet-map/gpu-states.ts';
import { StateMark } from '../fleet-map/state-mark.tsx';
import { blockedReason, type Device, deviceUse, isGpu } from './device-state.ts';

type Host = Schemas['HostDetails'];

/** NUMA nodes side by side, in each its PCIe switches with the GPUs behind them, and its drives. */
export function Topology({ host }: { host: Host }) {
  const devices: Device[] = [...host.gpus, ...host.drives];
  const known = new Set([
    ...host.numa_nodes.map(({ node }) => node),
    ...devices.map(({ numa_node }) => numa_node),
  ]);
  if (known.size === 0)
    return <p className="text-muted">The host has not reported its hardware yet.</p>;
  return (
    <div className="grid gap-3 md:grid-cols-2">
      {[...known]
        .sort((a, b) => a - b)
        .map((node) => (
          <NumaNode
            key={node}
            host={host}
            node={node}
            devices={devices.filter(({ numa_node }) => numa_node === node)}
          />
        ))}
    </div>
  );
}

type NumaNodeProps = { host: Host; node: number; devices: Device[] };

function NumaNode({ host, node, devices }: NumaNodeProps) {
  const totals = host.numa_nodes.find((each) => each.node === node);
  const switches = [...new Set(devices.filter(isGpu).map(({ pcie_switch }) => pcie_switch))].sort();
  const drives = devices.filter((device) => !isGpu(device));
  return (
    <div className="rounded-md border border-line-strong p-3">
      <p className="font-medium">{node < 0 ? 'No NUMA node named' : `NUMA node ${node}`}</p>
      {totals && (
        <p className="mb-2 text-sm text-muted">
          {totals.cores} cores, {Math.round(totals.memory_mib / 1024).toLocaleString('en')} GiB of
          memory, {totals.network_gbps} Gbit/s for VMs
        </p>
      )}
      <div className="flex flex-col gap-2">
        {switches.map((name) => (
          <Group key={name} title={name === '' ? 'Directly connected' : `PCIe switch ${name}`}>
            {devices
              .filter(isGpu)
              .filter(({ pcie_switch }) => pcie_switch === name)
              .map((gpu) => (
                <DeviceCell key={gpu.id} host={host} device={gpu} />
              ))}
          </Group>
        ))}
        {drives.length > 0 && (
          <Group title="Drives">
            {drives.map((drive) => (
              <DeviceCell key={drive.id} host={host} device={drive} />
            ))}
          </Group>
        )}
      </div>
    </div>
  );
}

function Group({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <div className="rounded border border-dashed border-line-strong px-2 pt-1 pb-2">
      <p className="mb-1 text-xs text-muted">{title}</p>
      <div className="flex flex-wrap gap-1.5">{children}</div>
    </div>
  );
}

function DeviceCell({ host, device }: { host: Host; device: Device }) {
  const use = deviceUse(device, host);
  const holder = host.vms.find(({ id }) => id === device.vm_id)?.name ?? device.vm_id;
  const detail = use === 'sold' ? holder : blockedReason(device, host);
  return (
    <Link
      to="/operator/hosts/$hostId/devices/$deviceId"
      params={{ hostId: host.id, deviceId: device.id }}
      title={detail === '' ? labelOf(use) : `${labelOf(use)}: ${detail}`}
      className="flex items-center gap-1.5 rounded border border-line bg-surface px-1.5 py-1 text-xs hover:bg-hover"
    >
      <StateMark state={use} />
      <span className="font-mono">{device.pci_address.replace(/^0000:/, '')}</span>
      <span className="sr-only">{labelOf(use)}</span>
    </Link>
  );
}
