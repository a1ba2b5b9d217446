import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { badField, refusal } from '@gantry/testkit/api/read-errors';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LOCATION, makeStorageWorld, POOL, type StorageWorld } from '../testing/storage-world.ts';

let world: StorageWorld;
let uploads: string;
beforeAll(async () => {
  uploads = await mkdtemp(join(tmpdir(), 'gantry-uploads-'));
  world = await makeStorageWorld({ uploads });
});
afterAll(async () => {
  await world?.api.stop();
  if (uploads) await rm(uploads, { recursive: true, force: true });
});

const CONTENT = Buffer.alloc(3000, 'uploaded ');
let made = 0;
async function newUpload(content = CONTENT, body: object = {}): Promise<string> {
  const { id, resourceId } = await world.begin('POST', '/images', {
    ...{ name: `image-${made++}`, location: LOCATION, size: '1GiB', format: 'raw' },
    ...{ upload_bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') },
    ...body,
  });
  expect(await world.operation(id)).toMatchObject({
    ...{ state: 'SUCCEEDED', result: { state: 'uploading' } },
  });
  return resourceId;
}
const send = (imageId: string, offset: number, data: Buffer) =>
  world.call('POST', `/images/${imageId}/upload`, { offset, data: data.toString('base64') });
const finish = (imageId: string) => world.begin('POST', `/images/${imageId}:finish-upload`);

it('an upload in chunks continues where it was, and becomes an image; then the file is gone', async () => {
  const imageId = await newUpload();
  const first = await send(imageId, 0, CONTENT.subarray(0, 1000));
  expect(first.body).toEqual({ received_bytes: 1000, upload_bytes: 3000 });
  // The reply to a chunk was lost: the client sends it again, and learns where to continue.
  const again = await send(imageId, 0, CONTENT.subarray(0, 1000));
  expect(refusal(again)).toEqual([409, 'conflict']);
  expect(again.body.details).toEqual({ received_bytes: 1000, upload_bytes: 3000 });
  const early = await world.call('POST', `/images/${imageId}:finish-upload`);
  expect(refusal(early)).toEqual([409, 'conflict']);
  const { body } = await world.call('GET', `/images/${imageId}/upload`);
  await send(imageId, body.received_bytes, CONTENT.subarray(body.received_bytes));
  await world.carryOut();
  expect((await world.call('GET', `/images/${imageId}`)).body.state).toBe('uploading');
  const { id } = await finish(imageId);
  await world.carryOut();
  expect(await world.operation(id)).toMatchObject({
    ...{ state: 'SUCCEEDED', name: 'UPDATE', result: { state: 'ready' } },
  });
  expect(world.contentOf(`image-${imageId}`)).toContain('uploaded uploaded');
  expect(await readdir(uploads)).toEqual([]);
  expect(refusal(await send(imageId, 0, CONTENT))).toEqual([409, 'conflict']);
});

it('a file that is not what was announced fails with the reason, and is removed with the image', async () => {
  const imageId = await newUpload(CONTENT, { sha256: '0'.repeat(64) });
  await send(imageId, 0, CONTENT);
  const { id } = await finish(imageId);
  await world.carryOut();
  expect((await world.operation(id)).result.message).toContain('should be 000');
  expect(await world.cluster.readVolume({ pool: POOL, name: `image-${imageId}` })).toBeNull();
  await world.begin('DELETE', `/images/${imageId}`);
  await world.carryOut();
  expect(await readdir(uploads)).toEqual([]);
});

it('a chunk beyond the end, that is no base64 or that is too large is refused and changes nothing', async () => {
  const imageId = await newUpload();
  const path = `/images/${imageId}/upload`;
  for (const data of ['', 'no base64!', Buffer.alloc(3001).toString('base64')])
    expect(badField(await world.call('POST', path, { offset: 0, data }))).toEqual([400, 'data']);
  const large = Buffer.alloc(4 * 2 ** 20 + 3).toString('base64');
  expect(badField(await world.call('POST', path, { offset: 0, data: large }))).toEqual([
    400,
    'data',
  ]);
  const huge = { offset: 0, data: 'x'.repeat(7 * 2 ** 20) };
  expect((await world.call('POST', path, huge)).status).toBe(413);
  expect((await world.call('GET', path)).body.received_bytes).toBe(0);
  await world.begin('DELETE', `/images/${imageId}`);
});

it('a file may be 1 GiB larger than the size that is counted in the quotas, and no more', async () => {
  const body = {
    ...{ name: `image-${made++}`, location: LOCATION, size: '2GiB', format: 'raw' },
    sha256: '0'.repeat(64),
  };
  const post = (bytes: number) => world.call('POST', '/images', { ...body, upload_bytes: bytes });
  expect(badField(await post(3 * 2 ** 30 + 1))).toEqual([400, 'upload_bytes']);
  const { status, body: reply } = await post(3 * 2 ** 30);
  expect(status).toBe(200);
  await world.begin('DELETE', `/images/${reply.operation.metadata.id}`);
});

it('other projects can neither read nor continue an upload', async () => {
  const imageId = await newUpload();
  const path = `/projects/${world.stranger.projectId}/images/${imageId}`;
  for (const [method, url, body] of [
    ['GET', `${path}/upload`],
    ['POST', `${path}/upload`, { offset: 0, data: 'eA==' }],
    ['POST', `${path}:finish-upload`],
  ] as const) {
    const reply = await world.call(method, url, body, world.stranger.accessKey);
    expect(refusal(reply)).toEqual([404, 'not_found']);
  }
});
