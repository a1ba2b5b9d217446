import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { SchedulerOptions } from '@gantry/scheduler/scheduler';
import type { SimulatedHost } from '@gantry/simulator/fleet/simulated-host';
import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import { LOCATION } from '@gantry/testkit/make/request-bodies';
import { expect, vi } from 'vitest';

/** A cloud without network storage whose scheduler has an image store, and two hosts that store disks. */
export type ImageStoreCloud = {
  cloud: Cloud;
  /** It has one GPU. */
  first: SimulatedHost;
  second: SimulatedHost;
  /** Uploads this text as an image that is as large as an OS disk may be. Returns when it has ended. */
  uploadImage(content: string, body?: object): Promise<Ended>;
  /** Returns how the operation ended. */
  ended(requested: Requested | Promise<Requested>): Promise<Ended>;
  /** The same, and the operation must have succeeded. Returns the id of its resource. */
  succeed(requested: Requested | Promise<Requested>): Promise<string>;
  /** The names of the files that the store has of an image. */
  filesOf(imageId: string): Promise<string[]>;
  /** Adds a scheduler that shares the store. */
  addScheduler(): ReturnType<Cloud['addScheduler']>;
  stop(): Promise<void>;
};

type Requested = { operationId: string; id: string };
type Ended = { id: string; state: string; result: Record<string, unknown> | null };

export const POLL = { timeout: 30_000 };
const KEPT_BYTES = 512;

/** Stands for the conversion by QEMU's program, which not every machine has: keeps the start of the file. */
const keepStart: NonNullable<SchedulerOptions['convertImage']> = async ({ file, to }) => {
  const [source, target] = [await open(file), await open(to, 'wx')];
  try {
    const { buffer, bytesRead } = await source.read(Buffer.alloc(KEPT_BYTES), 0, KEPT_BYTES, 0);
    await target.write(buffer, 0, bytesRead, 0);
  } finally {
    await source.close();
    await target.close();
  }
};

export async function startImageStoreCloud(): Promise<ImageStoreCloud> {
  const root = await mkdtemp(path.join(tmpdir(), 'gantry-stored-images-'));
  const [storeDirectory, uploads] = [path.join(root, 'store'), path.join(root, 'uploads')];
  for (const each of [storeDirectory, uploads]) await mkdir(each);
  const cloud = await startCloud({ hasImageStore: true, imageUploads: uploads });
  const addScheduler = () =>
    cloud.addScheduler({
      ...{ imageStoreDirectory: storeDirectory, imageUploads: uploads, convertImage: keepStart },
    });
  await addScheduler();
  const first = await cloud.addHost({ sharedStorage: false, gpus: 1 });
  const second = await cloud.addHost({ sharedStorage: false });

  const ended: ImageStoreCloud['ended'] = async (requested) => {
    const { operationId, id } = await requested;
    const read = () => cloud.operation(operationId);
    const isOver = async () => expect((await read()).state).not.toBe('IN_PROGRESS');
    await vi.waitFor(isOver, POLL);
    const { state, result } = await read();
    return { id, state, result };
  };
  return {
    ...{ cloud, first, second, ended, addScheduler },
    async succeed(requested) {
      const { id, state, result } = await ended(requested);
      expect({ state, result }).toMatchObject({ state: 'SUCCEEDED' });
      return id;
    },
    async uploadImage(content, body = {}) {
      const file = Buffer.alloc(KEPT_BYTES);
      file.write(content);
      const sha256 = createHash('sha256').update(file).digest('hex');
      const { id } = await cloud.request('POST', '/images', {
        ...{ name: content, location: LOCATION, size: '1GiB', format: 'raw', sha256 },
        ...{ upload_bytes: file.length, ...body },
      });
      await cloud.call('POST', `/images/${id}/upload`, {
        offset: 0,
        data: file.toString('base64'),
      });
      return await ended(cloud.request('POST', `/images/${id}:finish-upload`));
    },
    filesOf: async (imageId) =>
      await readdir(path.join(storeDirectory, imageId)).catch(() => [] as string[]),
    async stop() {
      await cloud.stop();
      await rm(root, { recursive: true, force: true });
    },
  };
}
