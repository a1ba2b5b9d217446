import { parseCidr } from '@gantry/model/cidr';
import { z } from '@hono/zod-openapi';
import {
  CatalogueName,
  Id,
  ListQuery,
  Page,
  ReplyId,
  ReplyIdOrEmpty,
  Text,
} from '../../http/fields.ts';

export const PublicAddress = z
  .object({
    id: ReplyId,
    address: z.string(),
    location: z.string(),
    vm_id: ReplyIdOrEmpty.openapi({
      description: 'The VM that has the address; empty if none has it now.',
    }),
    project_id: ReplyIdOrEmpty.openapi({
      description: 'The project that has reserved the address; empty if none has.',
    }),
  })
  .openapi('PublicAddress');

export const PublicAddressPage = Page(PublicAddress);

export const PublicAddressQuery = z.strictObject({
  ...ListQuery,
  location: Text(63).optional(),
});

/** Each address is a row. A /22 has 1024 addresses, which one statement inserts quickly. */
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
    description:
      `An IPv4 block from /${LARGEST_BLOCK} to /32. VMs get all of its addresses, including ` +
      'the first and the last.',
  });

export const AddPublicAddresses = z
  .strictObject({ location: CatalogueName, cidr: PublicBlock })
  .openapi('AddPublicAddresses');

export const AddedPublicAddresses = z
  .object({
    added: z.int().openapi({ description: 'How many addresses of the block are new.' }),
    total: z.int().openapi({ description: 'How many addresses the location has now.' }),
  })
  .openapi('AddedPublicAddresses');

export const PublicAddressParams = z.object({ public_address_id: Id });
