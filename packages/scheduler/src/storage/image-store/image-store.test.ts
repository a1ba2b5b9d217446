import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { unlessMissing } from '@gantry/daemon/durable-file';
import { newId } from '@gantry/model/ids';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type ImageStore, openImageStore } from './image-store.ts';

let directory: string;
let store: ImageStore;
let id: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'gantry-store-'));
  store = openImageStore(directory);
  id = newId();
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const files = async () =>
  ((await unlessMissing(readdir(directory, { recursive: true }))) ?? []).sort();
async function publish(text: string) {
  const file = await store.prepare(id);
  await writeFile(file, text);
  return await store.publish(id, file);
}
const sha256Of = (text: string) => createHash('sha256').update(text).digest('hex');
async function makeOld(name: string): Promise<void> {
  const before = new Date(Date.now() - 60_000);
  await utimes(path.join(directory, id, name), before, before);
}

it('content is found by its SHA-256 after it was published, and only then', async () => {
  const file = await store.prepare(id);
  await writeFile(file, 'content');
  await expect(store.open(id, sha256Of('content'))).rejects.toThrow('cannot be used');
  expect(await store.publish(id, file)).toEqual({ sha256: sha256Of('content'), bytes: 7 });
  const opened = await store.open(id, sha256Of('content'));
  expect(String(await opened.readFile())).toBe('content');
  await opened.close();
  expect(await store.list()).toEqual([id]);
});

it('a late attempt with other bytes does not replace the content that a VM needs', async () => {
  const first = await publish('of the holder');
  await publish('of a scheduler that lost its lease');
  const name = path.join(directory, id, `${first.sha256}.qcow2`);
  expect(String(await readFile(name))).toBe('of the holder');
});

it('a removal leaves nothing, and an attempt that goes on afterwards publishes nothing', async () => {
  await publish('content');
  const late = await store.prepare(id);
  await writeFile(late, 'late');
  await writeFile(store.sentFile(id), 'sent');
  await store.remove(id);
  await store.remove(id);
  expect(await files()).toEqual([]);
  await expect(store.publish(id, late)).rejects.toThrow('cannot be used');
  expect(await files()).toEqual([]);
});

it('a directory that is not mounted is not created, and every use says so', async () => {
  const away = openImageStore(path.join(directory, 'away'));
  await expect(away.prepare(id)).rejects.toThrow(/image store .*away cannot be used/);
  expect(await files()).toEqual([]);
  await expect(openImageStore(undefined).prepare(id)).rejects.toThrow(
    'GANTRY_IMAGE_STORE_DIRECTORY',
  );
});

it('old leftovers of attempts are removed; content and what is being written stay', async () => {
  const { sha256 } = await publish('content');
  await writeFile(await store.prepare(id), 'being written');
  const left = await store.prepare(id);
  await writeFile(left, 'left');
  await writeFile(store.sentFile(id), 'sent');
  await makeOld(path.basename(left));
  await makeOld('sent');
  await makeOld(`${sha256}.qcow2`);
  expect(await store.removeLeftovers(id, 30_000)).toBe(true);
  const names = await readdir(path.join(directory, id));
  expect(names).toHaveLength(2);
  expect(names).toContain(`${sha256}.qcow2`);
  expect(names).not.toContain(path.basename(left));
});

it('an old folder without files is removed, and a new one stays', async () => {
  await mkdir(path.join(directory, id));
  expect(await store.removeLeftovers(id, 30_000)).toBe(false);
  expect(await files()).toEqual([id]);
  await makeOld('.');
  expect(await store.removeLeftovers(id, 30_000)).toBe(false);
  expect(await files()).toEqual([]);
});
