import { route } from '../http/route.ts';
import { OperationReply } from '../operations/schema.ts';
import { operationView } from '../operations/view.ts';
import { attachDisks, detachDisks } from './attach-disks.ts';
import { AttachDisks, DetachDisks, VmParams } from './schema.ts';

export const diskAttachmentRoutes = [
  route({
    id: 'vms.attach-disks',
    method: 'post',
    path: '/projects/{project_id}/vms/{vm_id}/attach-disks',
    summary: 'Attach disks to a running or stopped VM',
    access: { level: 'project', role: 'member' },
    params: VmParams,
    body: AttachDisks,
    reply: OperationReply,
    handle: async ({ sql, scope, params, body, now, deadlineAt }) => ({
      operation: operationView(
        await attachDisks({
          sql,
          projectId: scope.projectId,
          vmId: params.vm_id,
          body,
          now,
          deadlineAt,
        }),
      ),
    }),
  }),
  route({
    id: 'vms.detach-disks',
    method: 'post',
    path: '/projects/{project_id}/vms/{vm_id}/detach-disks',
    summary: 'Detach disks from a running or stopped VM; they and their content stay',
    access: { level: 'project', role: 'member' },
    params: VmParams,
    body: DetachDisks,
    reply: OperationReply,
    handle: async ({ sql, scope, params, body, now, deadlineAt }) => ({
      operation: operationView(
        await detachDisks({
          sql,
          projectId: scope.projectId,
          vmId: params.vm_id,
          body,
          now,
          deadlineAt,
        }),
      ),
    }),
  }),
];
