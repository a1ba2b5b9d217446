import { z } from '@hono/zod-openapi';
import { Items, Label, Name, Text } from '../http/fields.ts';

/** Descriptions are shown to people and may be empty. */
export const Description = z.union([z.literal(''), Label]);
/** A catalogue name in a path: whether it exists is for the catalogue to say. */
export const CatalogueKey = Text(63).min(1, 'must not be empty');
/** Which locations offer something; whether they exist is for the catalogue to say. */
export const LocationNames = z.array(CatalogueKey).max(1000);

export const CreateLocation = z
  .strictObject({ name: Name, region: Name, zone: Name, description: Description.default('') })
  .superRefine(({ name, region, zone }, context) => {
    if (name !== `${region}-${zone}`) {
      const message = `must be the region and the zone: "${region}-${zone}"`;
      context.addIssue({ code: 'custom', path: ['name'], message });
    }
  })
  .openapi('CreateLocation');

export const ChangeLocation = z
  .strictObject({ description: Description })
  .openapi('ChangeLocation');
export const LocationParams = z.object({ location: CatalogueKey });

/** What a column of type integer holds. */
const LARGEST_INTEGER = 2_147_483_647;
const Count = z.int().min(0).max(LARGEST_INTEGER);
const Positive = z.int().min(1).max(LARGEST_INTEGER);

const MaySplit = z.boolean().openapi({
  description:
    'Whether a VM may have GPUs of more NUMA nodes than it would need. It is slower for as long as it lives; without this there is no room for it where GPUs of one node are too few.',
});

const VM_TYPE_FIELDS = {
  description: Description,
  cpu_cores: Positive,
  cpu_type: Label,
  memory_gb: Positive,
  memory_type: Label,
  disk_gb: Count,
  disk_type: Label,
  disk_count: Count,
  gpu_count: Count,
  gpu_type: Label,
  network_gbps: Count,
  locations: LocationNames,
};

export const AdminVmType = z
  .object({
    name: z.string(),
    ...VM_TYPE_FIELDS,
    may_split: z.boolean(),
    retired: z.boolean(),
  })
  .openapi('AdminVmType');
export const AdminVmTypes = Items(AdminVmType);

export const CreateVmType = z
  .strictObject({
    name: z
      .string()
      .regex(
        /^[a-z0-9][a-z0-9.-]{0,62}$/,
        'must be 1 to 63 of a-z, 0-9, . and -, a letter or digit first',
      ),
    ...VM_TYPE_FIELDS,
    may_split: MaySplit.default(false),
  })
  .openapi('CreateVmType');

export const ChangeVmType = z
  .strictObject({
    description: Description.optional(),
    may_split: MaySplit.optional(),
    retired: z.boolean().optional(),
    locations: LocationNames.optional(),
  })
  .openapi('ChangeVmType');
export const VmTypeParams = z.object({ vm_type: CatalogueKey });
