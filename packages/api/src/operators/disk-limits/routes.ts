import type { Queryable } from '@gantry/db/connect';
import {
  type DiskLimitsRow,
  listDiskLimits,
  updateDiskLimits,
} from '@gantry/db/queries/storage/disk-limits';
import { found } from '@gantry/model/errors';
import { route } from '../../http/route.ts';
import { AllDiskLimits, DiskLimits, DiskLimitsParams, SetDiskLimits } from './schema.ts';

export const diskLimitsRoutes = [
  route({
    id: 'admin-disk-limits.list',
    method: 'get',
    path: '/admin/storage/disk-limits',
    summary: 'List the limits of what guests read and write, by type of disk',
    access: { level: 'operator', role: 'read-only' },
    reply: AllDiskLimits,
    handle: async ({ sql }) => ({ items: (await listDiskLimits(sql)).map(diskLimitsView) }),
  }),
  route({
    id: 'admin-disk-limits.get',
    method: 'get',
    path: '/admin/storage/disk-limits/{disk_type}',
    summary: 'Read the limits of a type of disk',
    access: { level: 'operator', role: 'read-only' },
    params: DiskLimitsParams,
    reply: DiskLimits,
    handle: ({ sql, params }) => requireDiskLimits(sql, params.disk_type),
  }),
  route({
    id: 'admin-disk-limits.set',
    method: 'put',
    path: '/admin/storage/disk-limits/{disk_type}',
    summary: 'Set the limits of a type of disk, also for guests that run',
    access: { level: 'operator', role: 'admin' },
    params: DiskLimitsParams,
    body: SetDiskLimits,
    reply: DiskLimits,
    handle: async ({ sql, params: { disk_type: diskType }, body, now }) => {
      const burst_seconds = body.burst_percent > 0 ? Math.max(1, body.burst_seconds) : 0;
      await requireDiskLimits(sql, diskType);
      await updateDiskLimits(sql, { diskType, limits: { ...body, burst_seconds }, at: now });
      return await requireDiskLimits(sql, diskType);
    },
  }),
];

async function requireDiskLimits(sql: Queryable, diskType: string) {
  const rows = await listDiskLimits(sql);
  return diskLimitsView(
    found(
      rows.find((row) => row.disk_type === diskType),
      'type of disk',
    ),
  );
}

function diskLimitsView({ updated_at, ...limits }: DiskLimitsRow) {
  return { ...limits, updated_at: updated_at.toISOString() };
}
