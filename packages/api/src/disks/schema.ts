import { parseDiskSizeGib } from '@gantry/model/disk-size';
import { DISK_STATES, DISK_TYPES } from '@gantry/model/states';
import { z } from '@hono/zod-openapi';
import { Id, Items, Name, ReplyId, Text } from '../http/fields.ts';
import { VmDisk } from '../vms/schema.ts';

/** The disk as a VM shows it, and what only the disk itself can tell. */
export const Disk = VmDisk.extend({
  state: z.enum(DISK_STATES),
  vm_ids: z.array(ReplyId).openapi({ description: 'The VMs it is attached to.' }),
}).openapi('Disk');

export const Disks = Items(Disk);

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
    location: Text(63).min(1, 'must not be empty'),
    block_size: z
      .literal([512, 4096], 'must be 512 or 4096')
      // Written out, because the generator would name the first value alone.
      .openapi({ type: 'integer', enum: [512, 4096], default: 512 })
      .default(512),
    type: z.enum(DISK_TYPES).default('persistent-ssd'),
  })
  .openapi('CreateDisk');

export const ChangeDisk = z.strictObject({ size: Size }).openapi('ChangeDisk');

export const DiskParams = z.object({ project_id: Id, disk_id: Id });
