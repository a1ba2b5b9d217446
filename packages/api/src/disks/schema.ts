import { parseDiskSizeGib } from '@gantry/model/disk-size';
import { DISK_STATES, DISK_STORAGES, DISK_TYPES } from '@gantry/model/states';
import { z } from '@hono/zod-openapi';
import { CatalogueName, Id, Name, Page, ReplyId, Timestamp } from '../http/fields.ts';
import { ReplyTags, Tags } from '../http/tags.ts';

/** A disk in the list of a VM's disks. */
export const VmDisk = z
  .object({
    id: ReplyId,
    name: z.string(),
    type: z.string(),
    size: z.string(),
    location: z.string(),
    block_size: z.int(),
    created_at: Timestamp,
    updated_at: Timestamp,
    serial_number: z.string(),
    attachment_type: z.string(),
    mode: z.string(),
  })
  .openapi('VmDisk');

export const Disk = VmDisk.extend({
  state: z.enum(DISK_STATES),
  storage: z.enum(DISK_STORAGES).openapi({
    description:
      'network: a storage cluster stores it, so it outlives hosts; local: a host stores it and its snapshots.',
  }),
  encrypted: z.boolean().openapi({
    description: 'Whether it is encrypted before it is sent to the storage cluster.',
  }),
  tags: ReplyTags,
  vm_ids: z.array(ReplyId).openapi({ description: 'The VMs that the disk is attached to.' }),
}).openapi('Disk');

export const DiskPage = Page(Disk);

const Size = z
  .string()
  .refine(
    (size) => parseDiskSizeGib(size) !== undefined,
    'must be a whole number followed by GiB or TiB, from 1GiB to 10TiB',
  )
  .openapi({ example: '100GiB' });

export const CreateDisk = z
  .strictObject({
    name: Name,
    size: Size,
    location: CatalogueName,
    block_size: z
      .literal([512, 4096], 'must be 512 or 4096')
      // Set by hand, because the generator would list only the first value.
      .openapi({ type: 'integer', enum: [512, 4096], default: 512 })
      .default(512),
    type: z.enum(DISK_TYPES).default('persistent-ssd'),
    tags: Tags.optional(),
    snapshot_id: Id.optional().openapi({
      description:
        'Its content is copied from this snapshot, which has the same location and type.',
    }),
    backup_id: Id.optional().openapi({
      description:
        'Its content is read from this backup, which has the same location and type. Not with `snapshot_id`.',
    }),
  })
  .openapi('CreateDisk');

export const ChangeDisk = z
  .strictObject({ size: Size.optional(), tags: Tags.optional() })
  .refine(({ size, tags }) => size !== undefined || tags !== undefined, {
    path: ['size'],
    message: 'is required unless tags are given',
  })
  .openapi('ChangeDisk');

export const DiskParams = z.object({ project_id: Id, disk_id: Id });
