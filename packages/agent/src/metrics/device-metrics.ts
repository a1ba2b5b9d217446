import type { Metrics, Sample } from '@gantry/daemon/metrics/metrics';
import type { InventoryDevice } from '../devices/kinds/kind-driver.ts';

type Read = () => readonly InventoryDevice[];

/** Values of a device's health and the metrics that they become. Percents become ratios. */
const GAUGES = [
  {
    ...{ kind: 'gpu', value: 'temperature_celsius', divisor: 1 },
    ...{ name: 'gantry_host_gpu_temperature_celsius' },
    help: 'The temperature of a GPU that no VM has, if the tool of its vendor can read it.',
  },
  {
    ...{ kind: 'gpu', value: 'memory_temperature_celsius', divisor: 1 },
    ...{ name: 'gantry_host_gpu_memory_temperature_celsius' },
    help: 'The temperature of its memory.',
  },
  {
    ...{ kind: 'drive', value: 'percentage_used', divisor: 100 },
    ...{ name: 'gantry_host_drive_wear_ratio' },
    help: 'How much of the life of the drive is used, by its own estimate. It can exceed 1.',
  },
  {
    ...{ kind: 'drive', value: 'available_spare', divisor: 100 },
    ...{ name: 'gantry_host_drive_spare_ratio' },
    help: 'How much of its spare blocks the drive has left.',
  },
  {
    ...{ kind: 'drive', value: 'critical_warning', divisor: 1 },
    ...{ name: 'gantry_host_drive_critical_warning' },
    help: "The bits of the drive's critical warning. Zero means that there is none.",
  },
];

/**
 * Adds the health of GPUs and drives. The readings are those that the agent takes anyway, once a minute, so
 * a scrape touches no device. GPUs that VMs have are seen by the kernel only: their PCIe errors are here,
 * their temperature is not. The tool of a GPU's vendor is run every ten minutes.
 */
export function addDeviceMetrics(metrics: Metrics, read: Read): void {
  metrics.gaugeOf({
    name: 'gantry_host_device_lost',
    help: '1 if the device has fallen off the bus, otherwise 0.',
    labels: ['kind', 'address'],
    read: () => read().map((device) => ofDevice(device, device.lost ? 1 : 0)),
  });
  metrics.gaugeOf({
    name: 'gantry_host_device_warnings',
    help: 'What is wrong with the device, by the tools of its vendor and the kernel: how many findings.',
    labels: ['kind', 'address'],
    read: () => read().map((device) => ofDevice(device, device.warnings.length)),
  });
  metrics.counterOf({
    name: 'gantry_host_pcie_errors_total',
    help: 'Errors that the PCIe port of the device has reported since boot.',
    labels: ['kind', 'address', 'severity'],
    read: () =>
      read().flatMap(({ kind, address, aer }) =>
        Object.entries(aer ?? {}).map(([severity, value]) => ({
          labels: { kind, address, severity },
          value,
        })),
      ),
  });
  metrics.gaugeOf({
    name: 'gantry_host_pcie_link_width_ratio',
    help: 'The lanes of the link that are in use, as a part of those that both sides have.',
    labels: ['kind', 'address'],
    read: () =>
      read().flatMap((device) =>
        device.link ? ofDevice(device, device.link.width / device.link.maxWidth) : [],
      ),
  });
  for (const { name, help, kind, value, divisor } of GAUGES) {
    metrics.gaugeOf({
      ...{ name, help },
      labels: ['kind', 'address'],
      read: () =>
        ofKind(read(), kind, value).map((one) => ({ ...one, value: one.value / divisor })),
    });
  }
  metrics.counterOf({
    name: 'gantry_host_gpu_ecc_errors_total',
    help: 'Errors of the memory and caches of a GPU since its driver was loaded.',
    labels: ['kind', 'address', 'severity'],
    read: () =>
      ['corrected', 'uncorrected'].flatMap((severity) =>
        ofKind(read(), 'gpu', `ecc_${severity}_errors`).map(({ labels, value }) => ({
          labels: { ...labels, severity },
          value,
        })),
      ),
  });
  metrics.counterOf({
    name: 'gantry_host_drive_media_errors_total',
    help: 'Errors of the medium that the drive could not correct.',
    labels: ['kind', 'address'],
    read: () => ofKind(read(), 'drive', 'media_errors'),
  });
}

function ofKind(devices: readonly InventoryDevice[], kind: string, name: string) {
  return devices.flatMap((device) => {
    const value = device.health[name];
    return device.kind === kind && value !== undefined ? ofDevice(device, value) : [];
  });
}

function ofDevice({ kind, address }: InventoryDevice, value: number): Sample<'kind' | 'address'> {
  return { labels: { kind, address }, value };
}
