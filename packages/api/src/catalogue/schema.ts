import { z } from '@hono/zod-openapi';
import { CatalogueName, Items, Label, Name, ProjectParams, Text } from '../http/fields.ts';

export const Location = z
  .object({ name: z.string(), region: z.string(), zone: z.string(), description: z.string() })
  .openapi('Location');
export const Locations = Items(Location);

export const Availabilities = Items(
  z
    .object({
      type: z.string(),
      location: z.string(),
      available: z.boolean(),
      count: z.int().openapi({ description: 'How many VMs fit now at most; counted up to 100.' }),
      reason: z.string().openapi({ description: 'Why none fits; empty if one does.' }),
      usd_per_hour: z.number(),
      priced: z.boolean(),
    })
    .openapi('Availability'),
);
export const AvailabilityQuery = z.strictObject({
  product_name: Text(63).optional(),
  location: Text(63).optional(),
});

export const Spec = z
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
  .openapi('Spec');
export const Specs = Items(Spec);

/** A text for people; it may be empty. */
export const Description = z.union([z.literal(''), Label]);
/** The locations that offer an entry. The handler finds out whether they exist. */
export const LocationNames = z.array(CatalogueName).max(1000);

export const CreateLocation = z
  .strictObject({ name: Name, region: Name, zone: Name, description: Description.default('') })
  .superRefine(({ name, region, zone }, context) => {
    if (name !== `${region}-${zone}`) {
      const message = `must be "${region}-${zone}": the region, a hyphen and the zone`;
      context.addIssue({ code: 'custom', path: ['name'], message });
    }
  })
  .openapi('CreateLocation');

export const ChangeLocation = z
  .strictObject({ description: Description })
  .openapi('ChangeLocation');
export const LocationParams = z.object({ location: CatalogueName });

/** The largest value of a column of type integer. */
const LARGEST_INTEGER = 2_147_483_647;
const Count = z.int().min(0).max(LARGEST_INTEGER);
const Positive = z.int().min(1).max(LARGEST_INTEGER);

const MaySplit = z.boolean().openapi({
  description:
    'Whether a VM may get GPUs of more sockets than necessary. Such a VM is slower for its ' +
    'whole life. If this is false, a host whose free GPUs are spread over too many nodes is ' +
    'not used.',
});

const NestedVirtualization = z.boolean().openapi({
  description:
    'Whether guests can run VMs themselves. If this is false, the CPU of a guest does not show ' +
    'the feature (vmx or svm).',
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
    nested_virtualization: z.boolean(),
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
    nested_virtualization: NestedVirtualization.default(false),
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
export const SpecParams = ProjectParams.extend({ product_name: CatalogueName });
export const VmTypeParams = z.object({ vm_type: CatalogueName });
