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

export const ReservedAddress = z
  .object({
    id: ReplyId,
    name: z.string(),
    address: z.string(),
    location: z.string(),
    vm_id: ReplyIdOrEmpty.openapi({
      description: 'The VM that the address is attached to; empty if there is none.',
    }),
    created_at: Timestamp,
  })
  .openapi('ReservedAddress');

export const ReservedAddressPage = Page(ReservedAddress);

export const ReserveAddress = z
  .strictObject({ name: Name, location: CatalogueName })
  .openapi('ReserveAddress');

export const ChangeReservedAddress = z
  .strictObject({ name: Name })
  .openapi('ChangeReservedAddress');

export const AttachPublicAddress = z
  .strictObject({ address_id: Id })
  .openapi('AttachPublicAddress');

export const ReservedAddressParams = z.object({ project_id: Id, address_id: Id });
export const ReservedAddressQuery = z.strictObject(Paging);
