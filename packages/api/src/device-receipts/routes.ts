import {
  listReceiptsOfProject,
  readReceiptOfProject,
} from '@gantry/db/queries/hosts/device-receipts';
import { found } from '@gantry/model/errors';
import { z } from '@hono/zod-openapi';
import { Paging, ProjectParams, page } from '../http/fields.ts';
import { route } from '../http/route.ts';
import { DeviceReceipt, DeviceReceiptPage, DeviceReceiptParams } from './schema.ts';
import { deviceReceiptView } from './view.ts';

export const deviceReceiptRoutes = [
  route({
    id: 'device-receipts.list',
    method: 'get',
    path: '/projects/{project_id}/device-receipts',
    summary: 'List the receipts for GPUs and drives that were cleaned after a VM, newest first',
    access: { level: 'project', role: 'read-only' },
    params: ProjectParams,
    query: z.strictObject(Paging),
    reply: DeviceReceiptPage,
    handle: async ({ sql, scope: { projectId }, query: { limit, page_token: before } }) =>
      page(
        await listReceiptsOfProject(sql, { projectId, before, limit: limit + 1 }),
        limit,
        deviceReceiptView,
      ),
  }),
  route({
    id: 'device-receipts.get',
    method: 'get',
    path: '/projects/{project_id}/device-receipts/{receipt_id}',
    summary: 'Read the receipt for a GPU or a drive that was cleaned after a VM',
    access: { level: 'project', role: 'read-only' },
    params: DeviceReceiptParams,
    reply: DeviceReceipt,
    handle: async ({ sql, scope: { projectId }, params: { receipt_id: id } }) =>
      deviceReceiptView(
        found(await readReceiptOfProject(sql, { projectId, id }), 'device receipt'),
      ),
  }),
];
