import { MAX_DISKS_PER_VM } from '@gantry/model/disk-size';
import { ATTACHMENT_MODES } from '@gantry/model/states';
import { z } from '@hono/zod-openapi';
import { CreateDisk } from '../disks/schema.ts';
import { Id } from '../http/fields.ts';

const { name, size, block_size, type } = CreateDisk.shape;

/** The members of a disk that does not exist yet. It is created in the location of the VM. */
const OF_NEW_DISK = ['name', 'size', 'block_size', 'type'] as const;

/** A disk of a new VM: an existing one with `disk_id`, or else a new one with `name` and `size`. */
const NewVmDisk = z
  .strictObject({
    disk_id: Id.optional(),
    name: name.optional(),
    size: size.optional(),
    block_size: block_size.unwrap().optional(),
    type: type.unwrap().optional(),
    mode: z.enum(ATTACHMENT_MODES).default('read-write'),
  })
  .superRefine((disk, context) => {
    const refuse = (member: string, message: string) =>
      context.addIssue({ code: 'custom', path: [member], message });
    if (disk.disk_id !== undefined) {
      for (const member of OF_NEW_DISK)
        if (disk[member] !== undefined) refuse(member, 'is only allowed without disk_id');
      return;
    }
    for (const member of ['name', 'size'] as const)
      if (disk[member] === undefined) refuse(member, 'is required unless disk_id is given');
  })
  .openapi('NewVmDisk');

const MOST = MAX_DISKS_PER_VM - 1;

export const NewVmDisks = z
  .array(NewVmDisk)
  .max(
    MOST,
    `must have at most ${MOST}: a VM has at most ${MAX_DISKS_PER_VM} disks with its OS disk`,
  )
  .superRefine((disks, context) => {
    for (const member of ['disk_id', 'name'] as const) {
      const values = disks.map((disk) => disk[member]);
      for (const [index, value] of values.entries())
        if (value !== undefined && values.indexOf(value) < index)
          context.addIssue({
            code: 'custom',
            path: [index, member],
            message: 'is in the list twice: name each disk once',
          });
    }
  });
