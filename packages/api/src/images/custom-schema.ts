import { OS_DISK_GIB, OS_DISK_SIZE, parseDiskSizeGib } from '@gantry/model/disk-size';
import { CUSTOM_IMAGE_VISIBILITIES, IMAGE_FORMATS } from '@gantry/model/states';
import { z } from '@hono/zod-openapi';
import { Description } from '../catalogue/schema.ts';
import { CatalogueName, Id, Name, Text } from '../http/fields.ts';
import { Labels, Sha256 } from './schema.ts';

const Visibility = z.enum(CUSTOM_IMAGE_VISIBILITIES).openapi({
  description: 'Who can use it: this project, or all projects of its organization.',
});

const Size = z
  .string()
  .refine((text) => (parseDiskSizeGib(text) ?? OS_DISK_GIB + 1) <= OS_DISK_GIB, {
    message: `must be a size from 1GiB to ${OS_DISK_SIZE}, the size of an OS disk`,
  });

/** What a file needs, and a snapshot has. */
const OF_FILE = ['location', 'size', 'format', 'sha256'] as const;

function requireOneSource(
  image: { snapshot_id?: unknown; source_url?: unknown } & {
    [name in (typeof OF_FILE)[number]]?: unknown;
  },
  context: z.RefinementCtx,
): void {
  const refuse = (field: string, message: string) =>
    context.addIssue({ code: 'custom', path: [field], message });
  if (image.snapshot_id === undefined && image.source_url === undefined)
    refuse('snapshot_id', 'is required unless source_url is given');
  if (image.snapshot_id !== undefined && image.source_url !== undefined)
    refuse('source_url', 'must not be given with snapshot_id');
  for (const field of OF_FILE) {
    if (image.source_url !== undefined && image[field] === undefined)
      refuse(field, 'is required if source_url is given');
    if (image.snapshot_id !== undefined && image[field] !== undefined)
      refuse(field, 'must not be given with snapshot_id: the snapshot has it');
  }
}

export const CreateCustomImage = z
  .strictObject({
    name: Name,
    description: Description.default(''),
    tags: Labels.default([]),
    visibility: Visibility.default('project'),
    snapshot_id: Id.optional().openapi({
      description: 'The snapshot that it is copied from, of a disk with blocks of 512 bytes.',
    }),
    source_url: Text(2048).optional().openapi({
      description: 'Where its file is fetched from. Then the fields after it are required.',
    }),
    location: CatalogueName.optional(),
    size: Size.optional().openapi({ description: 'The most that the disk in the file may have.' }),
    format: z.enum(IMAGE_FORMATS).optional(),
    sha256: Sha256.optional(),
  })
  .superRefine(requireOneSource)
  .openapi('CreateCustomImage');

export const ChangeCustomImage = z
  .strictObject({
    description: Description.optional(),
    tags: Labels.optional(),
    visibility: Visibility.optional(),
  })
  .refine((change) => Object.values(change).some((value) => value !== undefined), {
    path: ['visibility'],
    message: 'is required unless description or tags are given',
  })
  .openapi('ChangeCustomImage');
