import { z } from '@hono/zod-openapi';
import {
  CatalogueName,
  Id,
  Name,
  Page,
  Paging,
  ReplyId,
  ReplyIdOrEmpty,
  Timestamp,
} from '../http/fields.ts';
import { TaggedResourceQuery } from '../http/lists/resource-list.ts';
import { NameOrTags, ReplyTags, Tags } from '../http/tags.ts';

export const ReservedAddress = z
  .object({
    id: ReplyId,
    name: z.string(),
    address: z.string(),
    location: z.string(),
    vm_id: ReplyIdOrEmpty.openapi({
      description: 'The VM that the address is attached to; empty if there is none.',
    }),
    tags: ReplyTags,
    created_at: Timestamp,
  })
  .openapi('ReservedAddress');

export const ReservedAddressPage = Page(ReservedAddress);

export const ReserveAddress = z
  .strictObject({ name: Name, location: CatalogueName, tags: Tags.optional() })
  .openapi('ReserveAddress');

export const ChangeReservedAddress = NameOrTags.openapi('ChangeReservedAddress');

export const AttachPublicAddress = z
  .strictObject({ address_id: Id })
  .openapi('AttachPublicAddress');

export const DetachPublicAddress = z
  .strictObject({ address_id: Id })
  .openapi('DetachPublicAddress');

export const ReservedAddressParams = z.object({ project_id: Id, address_id: Id });
export const ReservedAddressQuery = TaggedResourceQuery.extend({ limit: Paging.limit });
