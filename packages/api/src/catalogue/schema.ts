import { z } from '@hono/zod-openapi';
import { Items, ReplyId, Text, Timestamp } from '../http/fields.ts';

export const Location = z
  .object({ name: z.string(), region: z.string(), zone: z.string(), description: z.string() })
  .openapi('Location');
export const Locations = Items(Location);

export const Availabilities = Items(
  z
    .object({ type: z.string(), location: z.string(), available: z.boolean() })
    .openapi('Availability'),
);
export const AvailabilityQuery = z.strictObject({
  product_name: Text(63).optional(),
  location: Text(63).optional(),
});

export const Specs = Items(
  z
    .object({
      product_name: z.string(),
      description: z.string(),
      cpu_cores: z.int(),
      cpu_type: z.string(),
      memory_gb: z.int(),
      memory_type: z.string(),
      disk_gb: z.int(),
      disk_type: z.string(),
      num_gpu: z.int(),
      gpu_type: z.string(),
    })
    .openapi('Spec'),
);

export const Images = Items(
  z
    .object({
      id: ReplyId,
      name: z.string(),
      description: z.string(),
      tags: z.array(z.string()),
      created_at: Timestamp,
      locations: z.array(z.string()),
    })
    .openapi('Image'),
);
