import { Metrics } from '@gantry/daemon/metrics/metrics';
import { expect, it } from 'vitest';
import { inventoryDevice } from '../devices/kinds/kind-driver.ts';
import type { PciDevice } from '../devices/pci/pci-device.ts';
import { addDeviceMetrics } from './device-metrics.ts';

const pci = (address: string, change: Partial<PciDevice> = {}): PciDevice => ({
  ...{ address, vendorId: '10de', deviceId: '20b5', subsystemVendorId: '', subsystemDeviceId: '' },
  ...{ iommuGroupOthers: [], driver: 'vfio-pci', resetMethods: [], bridges: [], functions: [] },
  ...{ bars: [], name: '', lost: false, ...change },
});

it('shows what was last read of each device, and nothing that could not be read', async () => {
  const metrics = new Metrics();
  const aer = { correctable: 4, nonfatal: 0, fatal: 1 };
  const link = { speedGts: 16, maxSpeedGts: 16, width: 8, maxWidth: 16 };
  const devices = [
    inventoryDevice('gpu', pci('0000:41:00.0', { aer, link }), {
      warnings: ['too hot'],
      health: { temperature_celsius: 91, ecc_uncorrected_errors: 3 },
    }),
    inventoryDevice('gpu', pci('0000:42:00.0', { lost: true })),
    inventoryDevice('drive', pci('0000:01:00.0'), {
      health: { percentage_used: 95, critical_warning: 0, media_errors: 2 },
    }),
  ];
  addDeviceMetrics(metrics, () => devices);
  const series = (await metrics.render()).split('\n').filter((line) => line.startsWith('gantry_'));
  const gpu = 'kind="gpu",address="0000:41:00.0"';
  const drive = 'kind="drive",address="0000:01:00.0"';
  expect(series).toEqual(
    expect.arrayContaining([
      'gantry_host_device_lost{kind="gpu",address="0000:42:00.0"} 1',
      `gantry_host_device_warnings{${gpu}} 1`,
      `gantry_host_pcie_errors_total{${gpu},severity="fatal"} 1`,
      `gantry_host_pcie_link_width_ratio{${gpu}} 0.5`,
      `gantry_host_gpu_temperature_celsius{${gpu}} 91`,
      `gantry_host_gpu_ecc_errors_total{${gpu},severity="uncorrected"} 3`,
      `gantry_host_drive_wear_ratio{${drive}} 0.95`,
      `gantry_host_drive_critical_warning{${drive}} 0`,
      `gantry_host_drive_media_errors_total{${drive}} 2`,
    ]),
  );
  const unread = series.filter((line) => /temperature|pcie/.test(line) && line.includes('42:00'));
  expect(unread).toEqual([]);
});
