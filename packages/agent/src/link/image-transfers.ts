import { Readable } from 'node:stream';
import type { ImageSource } from '@gantry/daemon/image-source';
import type { FleetClient } from '@gantry/proto/generated/gantry/v1/Fleet';
import type { ImageContent__Output } from '@gantry/proto/generated/gantry/v1/ImageContent';
import type { Fleet } from '@gantry/proto/load';
import {
  type ChannelCredentials,
  type ClientReadableStream,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { type Clock, systemClock } from '../base/clock.ts';
import { HostFailure } from '../base/failure.ts';
import type { SnapshotContent } from '../host-snapshots.ts';
import { sendContent } from './send-content.ts';

/**
 * Passes content of images between this host and a scheduler. Each transfer has a connection of its own, so that specs,
 * reports and the pings of the link never wait behind one. Any scheduler will do, because all of them share the image store.
 */
export type ImageTransfers = {
  /** Opens the content of an image that a VM of the spec names. Throws with the reason as its message. */
  open(imageId: string): Promise<ImageSource>;
  /** Sends the content of a snapshot for an image of the spec's orders. Returns when a scheduler has stored it. */
  send(imageId: string, content: SnapshotContent, signal: AbortSignal): Promise<void>;
};

export type TransferOptions = {
  fleet: Fleet;
  /** Called before every attempt, so that another scheduler is used after a failure. */
  address: () => string;
  credentials: () => ChannelCredentials;
  clock?: Clock;
  limits?: Partial<TransferLimits>;
};

export type TransferLimits = {
  /** From the call to the first message. */
  replyMs: number;
  /** The longest time without progress. */
  stallMs: number;
  /** The pause before a scheduler is asked again that has no place for a transfer. */
  busyMs: number;
  /** How often that is repeated: about five minutes, within the deadline of most operations. */
  attempts: number;
};

const LIMITS: TransferLimits = { replyMs: 30_000, stallMs: 60_000, busyMs: 2_000, attempts: 150 };
const CHANNEL_OPTIONS = {
  // A connection of its own, which ends with the transfer.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_channelz': 0,
  'grpc.enable_retries': 0,
};

export function grpcTransfers(options: TransferOptions): ImageTransfers {
  const { fleet: FleetService, address, credentials, clock = systemClock } = options;
  const limits = { ...LIMITS, ...options.limits };
  const connect = () => new FleetService(address(), credentials(), CHANNEL_OPTIONS);

  return {
    async open(imageId) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await fetchContent(connect(), { imageId, limits });
        } catch (error) {
          if (attempt >= limits.attempts || !isBusy(error))
            throw new Error(reasonOf(error), { cause: error });
          await new Promise<void>((resolve) => clock.after(limits.busyMs, resolve));
        }
      }
    },

    async send(imageId, content, signal) {
      const client = connect();
      try {
        await sendContent(client, { imageId, content, signal, stallMs: limits.stallMs });
      } catch (error) {
        signal.throwIfAborted();
        // The scheduler would refuse the same content again.
        if (codeOf(error) === status.INVALID_ARGUMENT)
          throw new HostFailure('bad_snapshot', reasonOf(error), { cause: error });
        throw new Error(reasonOf(error), { cause: error });
      } finally {
        client.close();
      }
    },
  };
}

type Fetch = { imageId: string; limits: TransferLimits };

async function fetchContent(client: FleetClient, { imageId, limits }: Fetch): Promise<ImageSource> {
  const call = client.fetchImage({ imageId });
  const close = () => {
    call.cancel();
    client.close();
  };
  // An error is also thrown to the reader of the call.
  call.on('error', () => {});
  const limit = setTimeout(() => call.destroy(new Error(SILENT)), limits.replyMs);
  const messages = call[Symbol.asyncIterator]() as AsyncIterator<ImageContent__Output>;
  try {
    const { value: first, done } = await messages.next();
    if (done) throw new Error('the scheduler has sent nothing');
    const stream = Readable.from(dataOf(messages, { call, stallMs: limits.stallMs }), {
      objectMode: false,
    });
    stream.once('close', close);
    return { stream, sizeBytes: Number(first.sizeBytes) };
  } catch (error) {
    close();
    throw error;
  } finally {
    clearTimeout(limit);
  }
}

type Reading = { call: ClientReadableStream<ImageContent__Output>; stallMs: number };

async function* dataOf(
  messages: AsyncIterator<ImageContent__Output>,
  { call, stallMs }: Reading,
): AsyncGenerator<Buffer> {
  for (;;) {
    // The time that the reader of the data takes does not count.
    const limit = setTimeout(() => call.destroy(new Error(SILENT)), stallMs);
    const { value, done } = await messages
      .next()
      .catch((error: unknown) => {
        throw new Error(reasonOf(error));
      })
      .finally(() => clearTimeout(limit));
    if (done) return;
    if (value.data.length > 0) yield value.data;
  }
}

const SILENT = 'the scheduler sends nothing';

function isBusy(error: unknown): boolean {
  return codeOf(error) === status.RESOURCE_EXHAUSTED || codeOf(error) === status.UNAVAILABLE;
}

/** The message of a call that failed has its code in it, which is nothing for tenants. */
function reasonOf(error: unknown): string {
  switch (codeOf(error)) {
    case status.NOT_FOUND:
      return 'no scheduler knows it as an image of this host';
    case status.UNIMPLEMENTED:
      return 'the scheduler is of an earlier version, which has no images to transfer';
    case status.UNAVAILABLE:
      return 'no scheduler can be reached';
    case undefined:
      return error instanceof Error ? error.message : String(error);
    default:
      return (error as ServiceError).details;
  }
}

function codeOf(error: unknown): status | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'number' ? code : undefined;
}
