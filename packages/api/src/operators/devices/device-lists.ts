import type { HostDevice } from '@gantry/db/queries/hosts/admin-hosts';
import type { DeviceKind } from '@gantry/model/host-states';
import { z } from '@hono/zod-openapi';
import { HostDrive, HostGpu, PlacedDevice } from './schema.ts';
import { driveView, gpuView } from './view.ts';

/** Replies list devices by kind: one member for each kind that operators see. */

export const HostDevices = { gpus: z.array(HostGpu), drives: z.array(HostDrive) };

export function hostDevices(devices: readonly HostDevice[]) {
  return {
    gpus: ofKind(devices, 'gpu').map(gpuView),
    drives: ofKind(devices, 'drive').map(driveView),
  };
}

type PlacedDeviceRow = { id: string; kind: DeviceKind; pci_address: string };
export const PlacedDevices = { gpus: z.array(PlacedDevice), drives: z.array(PlacedDevice) };

export function placedDevices(devices: readonly PlacedDeviceRow[]) {
  const view = ({ id, pci_address }: PlacedDeviceRow) => ({ id, pci_address });
  return {
    gpus: ofKind(devices, 'gpu').map(view),
    drives: ofKind(devices, 'drive').map(view),
  };
}

function ofKind<Row extends { kind: DeviceKind }>(rows: readonly Row[], kind: DeviceKind): Row[] {
  return rows.filter((row) => row.kind === kind);
}
