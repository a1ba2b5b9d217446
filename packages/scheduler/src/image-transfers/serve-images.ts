import type { Log } from '@gantry/daemon/log';
import type { Sql } from '@gantry/db/connect';
import { readFetchable } from '@gantry/db/queries/storage/image-exports';
import { CloudError, notFound } from '@gantry/model/errors';
import { status } from '@grpc/grpc-js';
import { isUuid } from '../attached/host-report.ts';
import type { ImageHandlers } from '../fleet/fleet-server.ts';
import { statusOf } from '../fleet/grpc-status.ts';
import type { ImageStore } from '../storage/image-store/image-store.ts';
import { receiveContent } from './receive-content.ts';
import { sendContent } from './send-content.ts';
import { TooManyTransfers, TransferSlots } from './transfer-slots.ts';

/**
 * Passes content of images between hosts and the image store. Any scheduler can do it for any host, because all of them
 * share the store: what a host may send or fetch follows from the database alone. A transfer has the pace of its slower
 * side, and at most a few messages of it are in memory. A stalled transfer is ended.
 */
export type ImageTransfers = ImageHandlers & {
  /** Ends all transfers. The hosts begin again with another scheduler. */
  stop(): Promise<void>;
};

type Options = {
  sql: Sql;
  log: Log;
  store: ImageStore;
  /** A transfer that does not progress for this time is ended. */
  stallMs?: number;
};

const STALL_MS = 60_000;

export function serveImages({ sql, log, store, stallMs = STALL_MS }: Options): ImageTransfers {
  const slots = new TransferSlots();
  const stopping = new AbortController();
  const { signal } = stopping;

  return {
    send: (hostId, call) =>
      slots.use(hostId, async () => {
        await receiveContent({ sql, store, stallMs, signal }, { hostId, call });
        log.info({ host_id: hostId }, 'content of an image received');
      }),

    fetch: (hostId, call) =>
      slots.use(hostId, async () => {
        const { imageId } = call.request;
        const key = { hostId, imageId };
        const content = isUuid(imageId) ? await readFetchable(sql, key) : undefined;
        if (!content) throw notFound('image');
        const file = await store.open(imageId, content.sha256);
        try {
          await sendContent({ file, bytes: content.bytes, call, stallMs, signal });
        } finally {
          await file.close();
        }
      }),

    statusOf: (error) =>
      error instanceof TooManyTransfers
        ? { code: status.RESOURCE_EXHAUSTED, details: error.message }
        : statusOf(error, log),

    async stop() {
      stopping.abort(new CloudError('unavailable', 'this scheduler is stopping'));
      await slots.idle();
    },
  };
}
