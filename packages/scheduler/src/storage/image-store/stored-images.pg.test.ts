import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { StorageError } from '@gantry/ceph/storage-error';
import { unlessMissing } from '@gantry/daemon/durable-file';
import { createLog } from '@gantry/daemon/log';
import { acquireLeases, type Lease } from '@gantry/db/queries/placement/leases';
import { listUnsettledStoredImages } from '@gantry/db/queries/storage/image-work';
import { newId } from '@gantry/model/ids';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { LOCATION } from '@gantry/testkit/make/request-bodies';
import { makeTenant, type TestTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { settleImage } from '../images/settle-image.ts';
import { LeaseLost } from '../lease-writes.ts';
import { openImageStore } from './image-store.ts';
import { startImageStore } from './start-image-store.ts';
import { type StoreContext, storedImage } from './stored-image.ts';
import { sweepImageStore } from './sweep-image-store.ts';

/** The steps of a scheduler, one by one: none runs. */
let api: TestApi;
let tenant: TestTenant;
let lease: Lease;
let root: string;
let store: string;
let uploads: string;
let server: Server;
let url: string;
const log = createLog({ process: 'test', level: 'silent' });
const CONTENT = Buffer.alloc(2048, 'content ');
const sha256Of = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'gantry-store-'));
  [store, uploads] = [path.join(root, 'store'), path.join(root, 'uploads')];
  await mkdir(uploads);
  api = await startTestApi({ hasImageStore: true, imageUploads: uploads });
  tenant = await makeTenant(api, 'acme');
  const leases = await acquireLeases(api.sql, { holder: newId(), ttlMs: 3_600_000 });
  lease = leases.find(({ location }) => location === LOCATION) as Lease;
  server = createServer((_, reply) => reply.end(CONTENT));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/file`;
});
afterAll(async () => {
  server?.close();
  await api?.stop();
  if (root) await rm(root, { recursive: true, force: true });
});
beforeEach(async () => {
  await rm(store, { recursive: true, force: true });
  await mkdir(store);
});

/** Stands for the conversion: copies the file. */
const copy: StoreContext['convert'] = async ({ file, to }) => {
  await writeFile(to, await readFile(file));
};
const contextOf = (convert = copy): StoreContext => ({
  ...{ sql: api.sql, log, store: openImageStore(store), convert },
  imports: {
    rules: { allowsPrivate: true, allowsLoopback: true },
    stopping: new AbortController().signal,
    uploads,
  },
});
const call = (method: string, to: string, body?: unknown) =>
  api.call(method, `/projects/${tenant.projectId}${to}`, {
    bearer: tenant.accessKey,
    ...(body === undefined ? {} : { body }),
  });
const read = async (imageId: string) => (await call('GET', `/images/${imageId}`)).body;
const operationOf = async (imageId: string) =>
  (
    await api.sql`select state, result from operations where resource_id = ${imageId}
      order by started_at desc limit 1`
  )[0];
const filesOf = async (imageId: string) =>
  (await unlessMissing(readdir(path.join(store, imageId)))) ?? [];

let made = 0;
/** Requests an image of a file at a URL, of which the scheduler gets that of the server here. */
async function requestImage(body: object = {}): Promise<string> {
  const wanted = {
    ...{ name: `image-${made++}`, location: LOCATION, size: '1GiB', format: 'raw' },
    ...{ source_url: 'https://images.example.com/a', sha256: sha256Of(CONTENT), ...body },
  };
  const reply = await call('POST', '/images', wanted);
  expect({ status: reply.status, body: reply.body }).toMatchObject({ status: 200 });
  const { id } = reply.body.operation.metadata;
  await api.sql`update custom_images set source_url = ${url} where id = ${id}`;
  return id;
}

/** Does everything that there is to do for an image, once. */
async function settle(imageId: string, context = contextOf(), by = lease): Promise<void> {
  const all = { location: LOCATION, limit: 100, notIds: [] };
  const image = (await listUnsettledStoredImages(api.sql, all)).find(({ id }) => id === imageId);
  if (image) await settleImage(context, { lease: by, image, place: storedImage(context, image) });
}

describe('an image in the store', () => {
  it('is made of a file at a URL, recorded with its hash, and metered from then on', async () => {
    const id = await requestImage();
    await settle(id);
    expect(await read(id)).toMatchObject({ state: 'ready', size: '1GiB', problem: '' });
    expect(await operationOf(id)).toMatchObject({ state: 'SUCCEEDED', result: { state: 'ready' } });
    expect(await filesOf(id)).toEqual([`${sha256Of(CONTENT)}.qcow2`]);
    const [row] = await api.sql`select content_sha256, content_bytes::int as bytes, pool_id
      from custom_images where id = ${id}`;
    expect(row).toEqual({ content_sha256: sha256Of(CONTENT), bytes: 2048, pool_id: null });
    const metered = await api.sql`select units::int from meter_intervals where resource_id = ${id}`;
    expect(metered).toMatchObject([{ units: 1 }]);
  });

  it('that cannot be made fails with a reason without paths, and leaves nothing', async () => {
    const wrong = await requestImage({ sha256: '0'.repeat(64) });
    await settle(wrong);
    const broken = await requestImage();
    const refuse = async ({ file }: { file: string }) => {
      throw new StorageError('failed', `The image file ${file} is no qcow2 file.`);
    };
    await settle(broken, contextOf(refuse));
    for (const [id, reason] of [
      [wrong, /SHA-256/],
      [broken, /is no qcow2 file/],
    ] as const) {
      const { state, problem } = await read(id);
      expect(state).toBe('failed');
      expect(problem).toMatch(reason);
      expect(problem).not.toContain(tmpdir());
      expect(await operationOf(id)).toMatchObject({
        ...{ state: 'FAILED', result: { code: 'storage_failed', message: problem } },
      });
      expect(await filesOf(id)).toEqual([]);
    }
  });

  it('is made by the next holder of the lease if a scheduler was killed before it recorded it', async () => {
    const id = await requestImage();
    const lost = { ...lease, epoch: lease.epoch + 1 };
    await expect(settle(id, contextOf(), lost)).rejects.toThrow(LeaseLost);
    expect((await read(id)).state).toBe('creating');
    expect(await filesOf(id)).toHaveLength(1);
    await settle(id);
    expect((await read(id)).state).toBe('ready');
    expect(await filesOf(id)).toHaveLength(1);
  });

  it('that was deleted is removed completely, also if the removal was interrupted', async () => {
    const id = await requestImage();
    await settle(id);
    expect((await call('DELETE', `/images/${id}`)).status).toBe(200);
    const lost = { ...lease, epoch: lease.epoch + 1 };
    await expect(settle(id, contextOf(), lost)).rejects.toThrow(LeaseLost);
    expect(await filesOf(id)).toHaveLength(1);
    await settle(id);
    expect(await filesOf(id)).toEqual([]);
    expect(await api.sql`select from custom_images where id = ${id}`).toEqual([]);
    expect(await api.sql`select from images where id = ${id}`).toEqual([]);
  });

  it('that failed is deleted together with what a host has sent for it', async () => {
    const id = await requestImage({ sha256: '0'.repeat(64) });
    await settle(id);
    await openImageStore(store).prepare(id);
    await writeFile(path.join(store, id, 'sent'), 'sent');
    await call('DELETE', `/images/${id}`);
    await settle(id);
    expect(await readdir(store)).toEqual([]);
  });

  it('is made by the loop of a scheduler, which says without paths why it cannot do so yet', async () => {
    const id = await requestImage();
    await rm(store, { recursive: true, force: true });
    let convert: StoreContext['convert'] = async () => {
      throw new StorageError('full', 'There is no space for the image.');
    };
    const storing = startImageStore({
      ...{ sql: api.sql, log, store: openImageStore(store), leases: () => [lease], retryMs: 5 },
      convert: (image) => convert(image),
      imageNetworks: { allowsPrivate: true, allowsLoopback: true },
    });
    try {
      const problem = async () => (await read(id)).problem;
      await expect.poll(problem, { timeout: 20_000 }).toMatch(/^the image could not be stored yet/);
      await mkdir(store);
      await expect.poll(problem, { timeout: 20_000 }).toBe('the image store is full');
      convert = copy;
      await expect.poll(async () => (await read(id)).state, { timeout: 20_000 }).toBe('ready');
      expect(await problem()).toBe('');
      const next = await requestImage();
      storing.note({ hasImageWork: true });
      await expect.poll(async () => (await read(next)).state, { timeout: 20_000 }).toBe('ready');
    } finally {
      await storing.stop();
    }
  });

  it('survives the sweep, which removes leftovers of attempts and keeps content that it does not know', async () => {
    const id = await requestImage();
    await settle(id);
    const unknown = newId();
    const opened = openImageStore(store);
    await writeFile(await opened.prepare(id), 'left by a killed scheduler');
    for (const name of [unknown, newId()]) await writeFile(await opened.prepare(name), 'x');
    const [kept] = await readdir(path.join(store, unknown));
    await opened.publish(unknown, path.join(store, unknown, String(kept)));
    const warnings: unknown[] = [];
    const spy = { ...log, warn: (facts: unknown) => warnings.push(facts) } as typeof log;
    await sweepImageStore({ sql: api.sql, log: spy, store: opened, olderThanMs: -60_000 });
    expect(await filesOf(id)).toEqual([`${sha256Of(CONTENT)}.qcow2`]);
    expect(await filesOf(unknown)).toHaveLength(1);
    expect(warnings).toEqual([{ images: 1, image_ids: [unknown] }]);
    await sweepImageStore({ sql: api.sql, log: spy, store: opened, olderThanMs: -60_000 });
    expect((await readdir(store)).sort()).toEqual([id, unknown].sort());
  });
});
