import {
  DISK_STATES,
  OPERATION_NAMES,
  OPERATION_STATES,
  RESOURCE_TYPES,
} from '@gantry/model/states';
import { z } from '@hono/zod-openapi';
import { Disk } from '../../disks/schema.ts';
import {
  CommaList,
  Id,
  Page,
  Paging,
  ReplyId,
  ReplyIdOrEmpty,
  Sort,
  Text,
} from '../../http/fields.ts';
import { Operation } from '../../operations/schema.ts';
import { Vm, VmQuery } from '../../vms/schema.ts';

const Tenant = { project_id: ReplyId, organization_id: ReplyId };

export const AdminVm = Vm.extend({
  ...Tenant,
  host_id: ReplyIdOrEmpty.openapi({
    description: 'The host of the VM; empty while it is placed on none.',
  }),
}).openapi('AdminVm');
export const AdminVmPage = Page(AdminVm);

export const AdminDisk = Disk.extend({
  ...Tenant,
  host_id: ReplyIdOrEmpty.openapi({
    description: 'The host that stores the disk; empty before a host has created it.',
  }),
}).openapi('AdminDisk');
export const AdminDiskPage = Page(AdminDisk);

export const AdminOperation = Operation.extend(Tenant).openapi('AdminOperation');
export const AdminOperationPage = Page(AdminOperation);

const TenantQuery = { organization_id: Id.optional(), project_id: Id.optional() };

/** A name is unique only in a project, so operators sort by time alone. */
export const AdminVmQuery = VmQuery.extend({
  ...Paging,
  ...TenantQuery,
  sort: Sort,
  host_id: Id.optional(),
});

export const AdminDiskQuery = z.strictObject({
  ...Paging,
  ...TenantQuery,
  sort: Sort,
  host_id: Id.optional(),
  ids: CommaList(Id),
  names: CommaList(Text(63)),
  types: CommaList(Text(63)),
  locations: CommaList(Text(63)),
  states: CommaList(z.enum(DISK_STATES)),
});

export const AdminOperationQuery = z.strictObject({
  ...Paging,
  ...TenantQuery,
  resource_type: z.enum(RESOURCE_TYPES).optional(),
  resource_id: Id.optional(),
  operation_name: z.enum(OPERATION_NAMES).optional(),
  state: z.enum(OPERATION_STATES).optional(),
});

export const MoveVm = z
  .strictObject({
    host_id: Id.optional().openapi({
      description: 'The host to prefer. Without it, the scheduler chooses one.',
    }),
    notice: Text(500)
      .optional()
      .openapi({ description: 'What the tenant is told in the event `vm_moving`.' }),
  })
  .openapi('MoveVm');

export const AdminVmParams = z.object({ vm_id: Id });
export const AdminDiskParams = z.object({ disk_id: Id });
export const AdminOperationParams = z.object({ operation_id: Id });
