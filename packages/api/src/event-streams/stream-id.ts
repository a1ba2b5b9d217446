import type { StreamPosition } from '@gantry/db/queries/operations/stream-events';
import { badRequest } from '@gantry/model/errors';

/**
 * The id of an event in a stream: the era of the installation, the transaction that wrote the event, and
 * its number. The database hands out all three, so every api process knows what an id stands for.
 * Transactions of different eras cannot be compared, because commits may have been lost in between.
 */
export type StreamId = { era: string; position: StreamPosition };

const MAX_XID = 2n ** 64n - 1n;
const MAX_BIGINT = 2n ** 63n - 1n;

export function formatStreamId(era: string, { xid, number }: StreamPosition): string {
  return `${era}-${xid}-${number}`;
}

/** Returns null if the client sent none. */
export function parseStreamId(
  header: string | undefined,
  field = 'Last-Event-ID',
): StreamId | null {
  if (header === undefined || header === '') return null;
  const [, era = '', xid = '', number = ''] =
    /^(\d{1,19})-(\d{1,20})-(\d{1,19})$/.exec(header) ?? [];
  const position = { xid: BigInt(xid), number: BigInt(number) };
  if (era === '' || position.xid > MAX_XID || position.number > MAX_BIGINT) {
    throw badRequest([
      {
        field,
        reason: 'must be the id of an event of this stream, or be left out',
      },
    ]);
  }
  return { era, position };
}

export function isAfter(a: StreamPosition, b: StreamPosition): boolean {
  return a.xid === b.xid ? a.number > b.number : a.xid > b.xid;
}
