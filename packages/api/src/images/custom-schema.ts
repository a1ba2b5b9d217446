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
const SOURCES = ['snapshot_id', 'source_url', 'upload_bytes'] as const;

type Given = { [name in (typeof OF_FILE)[number] | (typeof SOURCES)[number]]?: unknown };

function requireOneSource(image: Given, context: z.RefinementCtx): void {
  const refuse = (field: string, message: string) =>
    context.addIssue({ code: 'custom', path: [field], message });
  const [source, ...others] = SOURCES.filter((name) => image[name] !== undefined);
  if (!source) {
    refuse('snapshot_id', 'is required unless source_url or upload_bytes is given');
    return;
  }
  for (const other of others) refuse(other, `must not be given with ${source}`);
  for (const field of OF_FILE) {
    if (source !== 'snapshot_id' && image[field] === undefined)
      refuse(field, `is required if ${source} is given`);
    if (source === 'snapshot_id' && image[field] !== undefined)
      refuse(field, 'must not be given with snapshot_id: the snapshot has it');
  }
}

const GIB = 2 ** 30;
/** A file has its disk, and a little more. */
const fileLimit = (diskGib: number) => (diskGib + 1) * GIB;

/** The quota counts the size of the disk, so the file may not need much more space than that. */
function requireFittingFile(
  image: { size?: string | undefined; upload_bytes?: number | undefined },
  context: z.RefinementCtx,
): void {
  const { size = '', upload_bytes: bytes = 0 } = image;
  const diskGib = parseDiskSizeGib(size);
  if (diskGib === undefined || bytes <= fileLimit(diskGib)) return;
  const message = `must be at most 1 GiB more than size, which is ${size}`;
  context.addIssue({ code: 'custom', path: ['upload_bytes'], message });
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
    upload_bytes: z.int().min(1).max(fileLimit(OS_DISK_GIB)).optional().openapi({
      description:
        'The size of its file, which is uploaded. Then the fields after it are required.',
    }),
    location: CatalogueName.optional(),
    size: Size.optional().openapi({ description: 'The most that the disk in the file may have.' }),
    format: z.enum(IMAGE_FORMATS).optional(),
    sha256: Sha256.optional(),
  })
  .superRefine(requireOneSource)
  .superRefine(requireFittingFile)
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

/** Of one chunk, in base64. */
const MOST_CHUNK_CHARACTERS = (4 * 2 ** 20 * 4) / 3 + 4;
/** The members around the data are short. */
export const MOST_CHUNK_BODY_BYTES = 6 * 2 ** 20;

export const ImageChunk = z
  .strictObject({
    offset: z.int().min(0).openapi({ description: 'How much was received before.' }),
    data: z
      .string()
      .max(MOST_CHUNK_CHARACTERS, 'must be at most 4 MiB in base64')
      .openapi({ description: 'At most 4 MiB in base64.' }),
  })
  .openapi('ImageChunk');

export const ImageUpload = z
  .object({ received_bytes: z.int(), upload_bytes: z.int() })
  .openapi('ImageUpload');
