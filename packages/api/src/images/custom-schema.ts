import { CUSTOM_IMAGE_VISIBILITIES } from '@gantry/model/states';
import { z } from '@hono/zod-openapi';
import { Description } from '../catalogue/schema.ts';
import { Id, Name } from '../http/fields.ts';
import { Labels } from './schema.ts';

const Visibility = z.enum(CUSTOM_IMAGE_VISIBILITIES).openapi({
  description: 'Who can use it: this project, or all projects of its organization.',
});

export const CreateCustomImage = z
  .strictObject({
    name: Name,
    description: Description.default(''),
    tags: Labels.default([]),
    visibility: Visibility.default('project'),
    snapshot_id: Id.openapi({
      description: 'The snapshot that it is copied from, of a disk with blocks of 512 bytes.',
    }),
  })
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
