import { IMAGE_STATES, IMAGE_VISIBILITIES } from '@gantry/model/states';
import { z } from '@hono/zod-openapi';
import { Description, LocationNames } from '../catalogue/schema.ts';
import {
  Id,
  Items,
  Label,
  Name,
  Page,
  ProjectParams,
  ReplyId,
  Text,
  Timestamp,
} from '../http/fields.ts';

export const Labels = z.array(Label.max(63, 'must be at most 63 characters')).max(32);

export const Image = z
  .object({
    id: ReplyId,
    name: z.string(),
    description: z.string(),
    tags: z.array(z.string()),
    created_at: Timestamp,
    locations: z.array(z.string()),
    project_id: z.string().openapi({
      description: 'The project that made it; empty for an image of the catalogue.',
    }),
    visibility: z.enum(IMAGE_VISIBILITIES),
    state: z.enum(IMAGE_STATES),
    size: z.string().openapi({
      description: 'The size of the image as a disk; empty for an image of the catalogue.',
    }),
    problem: z.string().openapi({
      description: 'Why it could not be made; empty if nothing is known to be wrong.',
    }),
  })
  .openapi('Image');
export const ImagePage = Page(Image);

export const AdminImage = z
  .object({
    id: ReplyId,
    name: z.string(),
    description: z.string(),
    tags: z.array(z.string()),
    source_url: z.string(),
    sha256: z.string(),
    retired: z.boolean(),
    created_at: Timestamp,
    locations: z.array(z.string()),
  })
  .openapi('AdminImage');
export const AdminImages = Items(AdminImage);

/** A file URL names a file on the host that needs the image. */
const SourceUrl = Text(2048).pipe(
  z.url({ protocol: /^(https?|file)$/, error: 'must be an http, https or file URL' }),
);
export const Sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits in lower case');

/** Hosts verify the images that they download, so a source without its hash is refused. */
function requireBoth(
  { source_url, sha256 }: { source_url?: string | undefined; sha256?: string | undefined },
  context: z.RefinementCtx,
): void {
  if (source_url !== undefined && sha256 === undefined) {
    const message = 'is required if source_url is set';
    context.addIssue({ code: 'custom', path: ['sha256'], message });
  }
  if (source_url === undefined && sha256 !== undefined) {
    const message = 'is required if sha256 is set';
    context.addIssue({ code: 'custom', path: ['source_url'], message });
  }
}

export const CreateImage = z
  .strictObject({
    name: Name,
    description: Description.default(''),
    tags: Labels.default([]),
    source_url: SourceUrl.optional(),
    sha256: Sha256.optional(),
    locations: LocationNames,
  })
  .superRefine(requireBoth)
  .openapi('CreateImage');

export const ChangeImage = z
  .strictObject({
    description: Description.optional(),
    tags: Labels.optional(),
    retired: z.boolean().optional(),
    locations: LocationNames.optional(),
    source_url: SourceUrl.optional(),
    sha256: Sha256.optional(),
  })
  .superRefine(requireBoth)
  .openapi('ChangeImage');

export const ImageParams = z.object({ image_id: Id });
export const ProjectImageParams = ProjectParams.extend({ image_id: Id });
