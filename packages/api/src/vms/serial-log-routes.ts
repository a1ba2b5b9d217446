import { readSerialLog } from '@gantry/db/queries/serial-logs';
import { notFound } from '@gantry/model/errors';
import { route } from '../http/route.ts';
import { VmParams } from './schema.ts';
import { SerialLog } from './serial-log-schema.ts';

export const serialLogRoutes = [
  route({
    id: 'serial-logs.get',
    method: 'get',
    path: '/projects/{project_id}/vms/{vm_id}/serial-log',
    summary: "Read the end of what a VM's serial console printed",
    access: { level: 'project', role: 'read-only' },
    params: VmParams,
    reply: SerialLog,
    handle: async ({ sql, scope, params }) => {
      const row = await readSerialLog(sql, { projectId: scope.projectId, vmId: params.vm_id });
      if (!row) throw notFound('VM');
      return { serial_log: row.tail, updated_at: row.updated_at?.toISOString() ?? '' };
    },
  }),
];
