import { route } from '../http/route.ts';
import { quarantineDevice, releaseDevice } from '../operations/quarantine-device.ts';
import { Device, DeviceParams, QuarantineDevice } from '../schemas/host.ts';
import { deviceView } from '../views/host.ts';

export const adminDeviceRoutes = [
  route({
    id: 'admin-devices.quarantine',
    method: 'post',
    path: '/admin/devices/{device_id}:quarantine',
    summary: 'Give a GPU or a drive to no new VM; one that has it keeps it',
    access: { level: 'operator' },
    params: DeviceParams,
    body: QuarantineDevice,
    reply: Device,
    handle: async ({ sql, params, body: { reason } }) =>
      deviceView(await quarantineDevice({ sql, deviceId: params.device_id, reason })),
  }),
  route({
    id: 'admin-devices.release',
    method: 'post',
    path: '/admin/devices/{device_id}:release',
    summary: "End an operator's quarantine of a GPU or a drive",
    access: { level: 'operator' },
    params: DeviceParams,
    reply: Device,
    handle: async ({ sql, params }) =>
      deviceView(await releaseDevice({ sql, deviceId: params.device_id })),
  }),
];
