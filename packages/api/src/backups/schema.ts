import { BACKUP_STATES, DISK_TYPES } from '@gantry/model/states';
import { z } from '@hono/zod-openapi';
import { Id, Name, Page, ReplyId, Timestamp, TimestampOrEmpty } from '../http/fields.ts';
import { ReplyTags, Tags } from '../http/tags.ts';

export const Backup = z
  .object({
    id: ReplyId,
    name: z.string(),
    disk_id: ReplyId.openapi({
      description: 'The disk that it was made of. The disk may have been deleted since.',
    }),
    type: z.enum(DISK_TYPES).openapi({ description: 'The type of the disk.' }),
    size: z.string().openapi({ description: 'The size of the disk when the backup was made.' }),
    location: z.string(),
    block_size: z.int(),
    parent_id: z.union([ReplyId, z.literal('')]).openapi({
      description:
        'The backup since which this one has the changes; empty: it has the whole content.',
    }),
    scheduled: z.boolean().openapi({ description: 'Whether the schedule of the disk made it.' }),
    stored_bytes: z.int().openapi({ description: 'The size of its file; 0 until it is ready.' }),
    sha256: z.string().openapi({ description: 'Of its file; empty until it is ready.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
    state: z.enum(BACKUP_STATES),
    problem: z.string().openapi({
      description: 'Why it could not be made or removed; empty if nothing is known to be wrong.',
    }),
    tags: ReplyTags,
  })
  .openapi('Backup');

export const BackupPage = Page(Backup);

export const CreateBackup = z
  .strictObject({
    name: Name,
    disk_id: Id,
    full: z.boolean().default(false).openapi({
      description:
        'Whether it has the whole content also if the changes since another one would do.',
    }),
    tags: Tags.optional(),
  })
  .openapi('CreateBackup');

export const ChangeBackup = z
  .strictObject({ name: Name.optional(), tags: Tags.optional() })
  .refine(({ name, tags }) => name !== undefined || tags !== undefined, {
    path: ['name'],
    message: 'is required unless tags are given',
  })
  .openapi('ChangeBackup');

export const BackupParams = z.object({ project_id: Id, backup_id: Id });

export const BackupSchedule = z
  .object({
    disk_id: ReplyId,
    every_hours: z.int(),
    keep: z.int(),
    next_at: Timestamp.openapi({ description: 'When the next backup is due.' }),
    last_backup_at: TimestampOrEmpty.openapi({
      description: 'When the newest complete backup was requested; empty if there is none.',
    }),
  })
  .openapi('BackupSchedule');

const MOST_HOURS = 8760;
const MOST_KEPT = 1000;
const whole = (most: number) =>
  z.int('must be a whole number').min(1, 'must be at least 1').max(most, `must be at most ${most}`);

export const SetBackupSchedule = z
  .strictObject({
    every_hours: whole(MOST_HOURS),
    keep: whole(MOST_KEPT).openapi({
      description: 'How many of the backups that the schedule makes are kept.',
    }),
  })
  .openapi('SetBackupSchedule');
