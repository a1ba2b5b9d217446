import { readDevice } from '@gantry/db/queries/hosts/admin-hosts';
import { listDeviceReadings } from '@gantry/db/queries/hosts/device-readings';
import { listReceiptsOfDevice } from '@gantry/db/queries/hosts/device-receipts';
import { found } from '@gantry/model/errors';
import { z } from '@hono/zod-openapi';
import { OperatorDeviceReceiptPage } from '../../device-receipts/schema.ts';
import { operatorDeviceReceiptView } from '../../device-receipts/view.ts';
import { Paging, page } from '../../http/fields.ts';
import { route } from '../../http/route.ts';
import { quarantineDevice, releaseDevice } from './quarantine.ts';
import {
  Device,
  DeviceParams,
  DeviceReadingQuery,
  DeviceReadings,
  QuarantineDevice,
} from './schema.ts';
import { deviceReadingView, deviceView } from './view.ts';

export const adminDeviceRoutes = [
  route({
    id: 'admin-devices.get',
    method: 'get',
    path: '/admin/devices/{device_id}',
    summary: 'Read a GPU or a drive of a host',
    access: { level: 'operator', role: 'read-only' },
    params: DeviceParams,
    reply: Device,
    handle: async ({ sql, params }) =>
      deviceView(found(await readDevice(sql, params.device_id), 'device')),
  }),
  route({
    id: 'admin-devices.quarantine',
    method: 'post',
    path: '/admin/devices/{device_id}:quarantine',
    summary: 'Keep new VMs from getting a GPU or a drive; a VM that has it keeps it',
    access: { level: 'operator', role: 'admin' },
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
    summary:
      'Give a GPU or a drive to VMs again: ends its quarantine and the problems that last ' +
      'until release',
    access: { level: 'operator', role: 'admin' },
    params: DeviceParams,
    reply: Device,
    handle: async ({ sql, params }) =>
      deviceView(await releaseDevice({ sql, deviceId: params.device_id })),
  }),
  route({
    id: 'admin-devices.readings',
    method: 'get',
    path: '/admin/devices/{device_id}/readings',
    summary: 'List how the link, the errors and the wear of a device changed, oldest first',
    access: { level: 'operator', role: 'read-only' },
    params: DeviceParams,
    query: DeviceReadingQuery,
    reply: DeviceReadings,
    handle: async ({ sql, params: { device_id: deviceId }, query: { hours } }) => {
      found(await readDevice(sql, deviceId), 'device');
      return {
        items: (await listDeviceReadings(sql, { deviceId, hours })).map(deviceReadingView),
      };
    },
  }),
  route({
    id: 'admin-devices.receipts',
    method: 'get',
    path: '/admin/devices/{device_id}/receipts',
    // An unknown device has an empty list, because receipts outlive their device.
    summary: 'List the receipts for a device that was cleaned after VMs, newest first',
    access: { level: 'operator', role: 'read-only' },
    params: DeviceParams,
    query: z.strictObject(Paging),
    reply: OperatorDeviceReceiptPage,
    handle: async ({ sql, params, query: { limit, page_token: before } }) => {
      const filter = { deviceId: params.device_id, before, limit: limit + 1 };
      return page(await listReceiptsOfDevice(sql, filter), limit, operatorDeviceReceiptView);
    },
  }),
];
