import { DISK_TYPES, SNAPSHOT_STATES } from '@gantry/model/states';
import { z } from '@hono/zod-openapi';
import { Id, Name, Page, ReplyId, Timestamp } from '../http/fields.ts';
import { ReplyTags, Tags } from '../http/tags.ts';

export const Snapshot = z
  .object({
    id: ReplyId,
    name: z.string(),
    disk_id: ReplyId.openapi({
      description: 'The disk that it was made of. The disk may have been deleted since.',
    }),
    type: z.enum(DISK_TYPES).openapi({ description: 'The type of the disk.' }),
    size: z.string().openapi({ description: 'The size of the disk when the snapshot was made.' }),
    location: z.string(),
    block_size: z.int(),
    created_at: Timestamp,
    updated_at: Timestamp,
    state: z.enum(SNAPSHOT_STATES),
    problem: z.string().openapi({
      description: 'Why it could not be made or removed; empty if nothing is known to be wrong.',
    }),
    tags: ReplyTags,
  })
  .openapi('Snapshot');

export const SnapshotPage = Page(Snapshot);

export const CreateSnapshot = z
  .strictObject({
    name: Name,
    disk_id: Id,
    freeze: z.boolean().optional().openapi({
      description:
        'Whether the file systems of the guest are frozen while the snapshot is made. It needs a guest agent.',
    }),
    tags: Tags.optional(),
  })
  .openapi('CreateSnapshot');

export const ChangeSnapshot = z
  .strictObject({ name: Name.optional(), tags: Tags.optional() })
  .refine(({ name, tags }) => name !== undefined || tags !== undefined, {
    path: ['name'],
    message: 'is required unless tags are given',
  })
  .openapi('ChangeSnapshot');

export const SnapshotParams = z.object({ project_id: Id, snapshot_id: Id });
