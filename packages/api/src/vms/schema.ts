import { ATTACHMENT_MODES, ON_HOST_FAILURE } from '@gantry/model/states';
import { VM_STATES } from '@gantry/model/vm-life/states';
import { z } from '@hono/zod-openapi';
import { VmDisk } from '../disks/schema.ts';
import {
  CatalogueName,
  CommaList,
  Id,
  Name,
  Page,
  Paging,
  ReplyId,
  ReplyIdOrEmpty,
  Text,
  Timestamp,
  TimestampOrEmpty,
} from '../http/fields.ts';
import { NamedOrder } from '../http/lists/named-page.ts';
import { ReplyTags, TagFilter, Tags } from '../http/tags.ts';
import { SshKeyOrName, SshPublicKey } from '../ssh-keys/schema.ts';
import { NewVmDisks } from './new-disk-schema.ts';

const NetworkInterface = z
  .object({
    id: ReplyId,
    name: z.string(),
    network: ReplyId,
    subnet: ReplyId,
    interface_type: z.string(),
    mac_address: z.string(),
    ips: z.array(
      z.object({
        private_ipv4: z.object({ address: z.string() }),
        public_ipv4: z.object({ address: z.string(), id: ReplyIdOrEmpty, type: z.string() }),
      }),
    ),
  })
  .openapi('NetworkInterface');

export const Vm = z
  .object({
    id: ReplyId,
    project_id: ReplyId,
    type: z.string(),
    state: z.enum(VM_STATES),
    ssh_destination: z.string(),
    created_at: Timestamp,
    updated_at: Timestamp,
    name: z.string(),
    location: z.string(),
    commitment_period: z.int(),
    commitment_end: z.string(),
    disks: z.array(VmDisk),
    network_interfaces: z.array(NetworkInterface),
    host_channel_adapters: z.array(z.string()),
    virtualization_features: z.object({ nested_virtualization: z.boolean() }),
    instance_template_id: z.string(),
    instance_group_id: z.string(),
    reservation_id: z.string(),
    on_host_failure: z.enum(ON_HOST_FAILURE).openapi({
      description:
        'Whether the VM is started on another host after its host has failed. A VM with a disk that only ' +
        'its host stores is left.',
    }),
    tags: ReplyTags,
  })
  .openapi('Vm');

export const VmPage = Page(Vm);

const MAX_SCRIPT_BYTES = 64 * 1024;
const Script = Text(MAX_SCRIPT_BYTES)
  .refine((script) => script.startsWith('#!'), 'must start with "#!"')
  .refine((script) => Buffer.byteLength(script) <= MAX_SCRIPT_BYTES, 'must be at most 64 KiB');

/** cloud-init ignores what has none of these forms, and only logs it inside the guest. */
const USER_DATA_FORM =
  /^(#!|#cloud-config|#cloud-boothook|#include|#part-handler|## template: jinja|(?=.{0,4096}mime-version:))/is;

const UserData = Text(MAX_SCRIPT_BYTES)
  .refine(
    (text) => USER_DATA_FORM.test(text),
    'must be user data of cloud-init: start with "#cloud-config" or "#!", or be a MIME message',
  )
  .refine((text) => Buffer.byteLength(text) <= MAX_SCRIPT_BYTES, 'must be at most 64 KiB');

const MAX_SSH_KEYS = 32;

/** The interface of a new VM. The default network is used if it names neither a network nor a subnet. */
const NewNetworkInterface = z
  .strictObject({
    network_id: Id.optional(),
    subnet_id: Id.optional(),
    public_ipv4: z
      .strictObject({
        type: z.enum(['none', 'dynamic', 'reserved'], 'must be "none", "dynamic" or "reserved"'),
        id: Id.optional(),
      })
      .refine(({ type, id }) => (type === 'reserved') === (id !== undefined), {
        path: ['id'],
        message: 'must be the id of a reserved public address with "reserved", and only then',
      })
      .default({ type: 'dynamic' }),
  })
  .openapi('NewNetworkInterface');

const ONE_INTERFACE = 'must have exactly one interface; leave it out for the default network';

export const CreateVm = z
  .strictObject({
    name: Name,
    type: CatalogueName,
    location: CatalogueName,
    image: CatalogueName,
    ssh_public_key: SshPublicKey.optional(),
    ssh_keys: z
      .array(SshKeyOrName)
      .max(MAX_SSH_KEYS, `must have at most ${MAX_SSH_KEYS}`)
      .optional(),
    startup_script: Script.optional(),
    shutdown_script: Script.optional(),
    user_data: UserData.optional(),
    network_interfaces: z
      .array(NewNetworkInterface)
      .min(1, ONE_INTERFACE)
      .max(1, ONE_INTERFACE)
      .optional(),
    disks: NewVmDisks.optional(),
    virtualization_features: z
      .strictObject({ nested_virtualization: z.boolean() })
      .optional()
      .openapi({ description: 'What the VM type must have. A type without it is refused.' }),
    on_host_failure: z.enum(ON_HOST_FAILURE).optional(),
    tags: Tags.optional(),
  })
  .refine(
    ({ ssh_public_key, ssh_keys }) => ssh_public_key !== undefined || (ssh_keys?.length ?? 0) > 0,
    {
      path: ['ssh_public_key'],
      message: 'is required unless ssh_keys has a key',
      // Together with the errors of other fields, so ssh_keys may be of any type here.
      when: ({ value }) => typeof value === 'object' && value !== null,
    },
  )
  .openapi('CreateVm');

export const VmEstimate = z
  .object({
    fits: z.boolean().openapi({ description: 'Whether a host has room for the VM now.' }),
    reason: z.string().openapi({ description: 'Why no host has room; empty if one has.' }),
    usd_per_hour: z.number().openapi({ description: 'All charges together.' }),
    priced: z.boolean().openapi({ description: 'Whether every charge has a price.' }),
    charges: z.array(
      z.object({
        resource_type: z.string(),
        quantity: z.number(),
        usd_per_hour: z.number(),
        priced: z.boolean(),
      }),
    ),
  })
  .openapi('VmEstimate');

export const ChangeVm = z
  .strictObject({
    action: z.enum(['START', 'STOP', 'RESET', 'UPDATE']),
    name: Name.optional(),
    type: CatalogueName.optional(),
    on_host_failure: z.enum(ON_HOST_FAILURE).optional(),
    tags: Tags.optional(),
  })
  .superRefine((change, context) => {
    const given = (['name', 'type', 'on_host_failure', 'tags'] as const).filter(
      (field) => change[field] !== undefined,
    );
    if (change.action === 'UPDATE' && given.length === 0) {
      context.addIssue({
        code: 'custom',
        path: ['name'],
        message: 'UPDATE needs a new name, type or on_host_failure, or new tags',
      });
    }
    if (change.action !== 'UPDATE') {
      for (const field of given) {
        context.addIssue({
          code: 'custom',
          path: [field],
          message: 'is only allowed with the action UPDATE',
        });
      }
    }
  })
  .openapi('ChangeVm');

export const AttachDisks = z
  .strictObject({
    attach_disks: z
      .array(
        z.strictObject({
          disk_id: Id,
          mode: z.enum(ATTACHMENT_MODES).default('read-write'),
          attachment_type: z.literal('data', 'must be "data"').default('data'),
        }),
      )
      .min(1)
      .max(16),
  })
  .openapi('AttachDisks');

export const DetachDisks = z
  .strictObject({ detach_disks: z.array(Id).min(1).max(16) })
  .openapi('DetachDisks');

export const SerialLog = z
  .object({
    serial_log: z.string().openapi({
      description:
        'The last part of the console output, at most 64 KiB; empty if nothing was printed yet.',
    }),
    updated_at: TimestampOrEmpty,
  })
  .openapi('SerialLog');

export const VmParams = z.object({ project_id: Id, vm_id: Id });

export const VmQuery = z.strictObject({
  limit: Paging.limit,
  ...NamedOrder,
  ids: CommaList(Id),
  names: CommaList(Text(63)),
  types: CommaList(Text(63)),
  locations: CommaList(Text(63)),
  states: CommaList(z.enum(VM_STATES)),
  tag: TagFilter,
});
