import { parseCidr } from '@gantry/model/cidr';
import { z } from '@hono/zod-openapi';
import { CatalogueKey } from '../../catalogue/admin-schema.ts';
import { Id, Page, Paging, ReplyId, ReplyIdOrEmpty, Text } from '../../http/fields.ts';

export const PublicAddress = z
  .object({
    id: ReplyId,
    address: z.string(),
    location: z.string(),
    vm_id: ReplyIdOrEmpty.openapi({ description: 'The VM that has it; empty when it is free.' }),
  })
  .openapi('PublicAddress');

export const PublicAddressPage = Page(PublicAddress);

export const PublicAddressQuery = z.strictObject({ ...Paging, location: Text(63).optional() });

/** A row for each address: 1024 of them are one quick statement. */
const LARGEST_BLOCK = 22;

const PublicBlock = z
  .string()
  .superRefine((text, context) => {
    const block = parseCidr(text);
    const problem = !block
      ? 'must be an IPv4 block such as 203.0.113.0/24, without bits beyond its prefix'
      : block.prefix < LARGEST_BLOCK && `must have a prefix from /${LARGEST_BLOCK} to /32`;
    if (problem) context.addIssue({ code: 'custom', message: problem });
  })
  .openapi({
    example: '203.0.113.0/24',
    description: `An IPv4 block from /${LARGEST_BLOCK} to /32. All its addresses are given to VMs, the first and the last included.`,
  });

export const AddPublicAddresses = z
  .strictObject({ location: CatalogueKey, cidr: PublicBlock })
  .openapi('AddPublicAddresses');

export const AddedPublicAddresses = z
  .object({
    added: z.int().openapi({ description: 'How many of the block were not there before.' }),
    total: z.int().openapi({ description: 'How many the location has now.' }),
  })
  .openapi('AddedPublicAddresses');

export const PublicAddressParams = z.object({ public_address_id: Id });
