import { OPERATION_NAMES, OPERATION_STATES, RESOURCE_TYPES } from '@gantry/model/states';
import { z } from '@hono/zod-openapi';
import { Id, Page, Paging, ReplyId, Timestamp, TimestampOrEmpty } from '../http/fields.ts';

export const Operation = z
  .object({
    operation_id: ReplyId,
    state: z.enum(OPERATION_STATES),
    metadata: z.object({
      operation_name: z.enum(OPERATION_NAMES),
      id: ReplyId.openapi({
        description: 'The resource, whose id is known from the first reply on.',
      }),
      type: z.enum(RESOURCE_TYPES),
      request: z.record(z.string(), z.unknown()).openapi({
        description:
          'The request that started the operation. The SSH key and the scripts of a VM leave it when ' +
          'the operation ends.',
      }),
    }),
    result: z
      .record(z.string(), z.unknown())
      .nullable()
      .openapi({
        description:
          'Null while in progress. Then the resource, or the code, message and details of the ' +
          'failure.',
      }),
    started_at: Timestamp,
    completed_at: TimestampOrEmpty,
  })
  .openapi('Operation');

export const OperationReply = z.object({ operation: Operation }).openapi('OperationReply');
export const OperationPage = Page(Operation);

export const OperationParams = z.object({ project_id: Id, operation_id: Id });
export const OperationQuery = z.strictObject({
  ...Paging,
  resource_id: Id.optional(),
  state: z.enum(OPERATION_STATES).optional(),
});
