import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  IMAGE_SNAPSHOT,
  type NewVolume,
  type StorageCluster,
  type Volume,
  type VolumeName,
} from '../storage-cluster.ts';
import { describeBackupContract } from './backup-contract.ts';
import type { ContractCluster } from './contract-cluster.ts';
import { describeEncryptionContract } from './encryption-contract.ts';
import { describeFencingContract } from './fencing-contract.ts';

const MIB = 2 ** 20;
const IMAGE_BYTES = 4 * MIB;
const IMAGE_TEXT = 'the content of an image';

/** The guarantees that the control plane relies on, for every storage cluster. */
export function describeStorageClusterContract(make: () => Promise<ContractCluster>): void {
  let under: ContractCluster;
  let cluster: StorageCluster;
  let directory: string;
  let file: string;
  let image: Volume;
  const at = (name: string = randomUUID()): VolumeName => ({ pool: under.pool, name });
  const labels = (resource: string) => ({ installation: 'here', resource });
  const make32 = (volume: Partial<NewVolume> = {}): NewVolume => {
    const { name } = at(volume.name);
    return { ...at(name), sizeBytes: 32 * MIB, labels: labels(name), ...volume };
  };
  const create = (volume: Partial<NewVolume> = {}) => cluster.createVolume(make32(volume));
  const importImage = () => {
    const name = randomUUID();
    return cluster.importImage({ ...at(name), labels: labels(name), file, format: 'raw' });
  };
  const writeText = async (volume: VolumeName, text: string) => {
    const client = await under.open(volume);
    await client.write(text);
    await client.close();
  };

  beforeAll(async () => {
    under = await make();
    cluster = under.cluster;
    directory = await mkdtemp(path.join(tmpdir(), 'gantry-contract-'));
    file = path.join(directory, 'image.raw');
    const content = Buffer.alloc(IMAGE_BYTES);
    content.write(IMAGE_TEXT);
    await writeFile(file, content);
    image = await importImage();
  });

  afterAll(async () => {
    await cluster?.close();
    if (directory) await rm(directory, { recursive: true, force: true });
  });

  it('a cluster has one id, and a pool that does not exist is not found', async () => {
    expect(await cluster.readFsid()).toMatch(/^[0-9a-f-]{36}$/);
    expect(await cluster.readFsid()).toBe(await cluster.readFsid());
    const absent = { code: 'not_found' };
    await expect(cluster.readPool('absent')).rejects.toMatchObject(absent);
    await expect(cluster.listVolumes('absent')).rejects.toMatchObject(absent);
    await expect(create({ pool: 'absent' })).rejects.toMatchObject(absent);
    await expect(cluster.emptyTrash('absent')).rejects.toMatchObject(absent);
  });

  describe('volumes', () => {
    it('a volume is shown and listed after its creation', async () => {
      const wanted = make32();
      expect(await cluster.readVolume(wanted)).toBeNull();
      const created = await cluster.createVolume(wanted);
      expect(created).toEqual({
        ...at(wanted.name),
        id: expect.stringMatching(/^[0-9a-f]+$/),
        sizeBytes: 32 * MIB,
        encrypted: false,
        isRestoring: false,
        labels: wanted.labels,
        parentId: null,
        snapshots: [],
        watchers: [],
        locker: null,
      });
      expect(await cluster.readVolume(wanted)).toEqual(created);
      expect(await cluster.listVolumes(under.pool)).toContain(wanted.name);
    });

    it('to create a volume again changes nothing, also if several calls do so at once', async () => {
      const wanted = make32();
      const all = await Promise.all([1, 2, 3, 4].map(() => cluster.createVolume(wanted)));
      expect(new Set(all.map(({ id }) => id)).size).toBe(1);
      const again = await cluster.createVolume({ ...wanted, sizeBytes: 64 * MIB });
      expect(again).toEqual(all[0]);
    });

    it('a volume with other labels or none is not taken over', async () => {
      const { name } = await create();
      await expect(create({ name, labels: labels('other') })).rejects.toMatchObject({
        code: 'exists',
      });
      const foreign = at();
      await under.addForeignVolume(foreign);
      await expect(create({ name: foreign.name })).rejects.toMatchObject({ code: 'exists' });
      expect(await cluster.readVolume(foreign)).toMatchObject({ labels: null });
    });

    it('a volume grows and never shrinks', async () => {
      const volume = await create();
      await cluster.growVolume({ ...volume, sizeBytes: 64 * MIB });
      await cluster.growVolume({ ...volume, sizeBytes: 64 * MIB });
      const smaller = cluster.growVolume({ ...volume, sizeBytes: 32 * MIB });
      await expect(smaller).rejects.toMatchObject({ code: 'failed' });
      expect(await cluster.readVolume(volume)).toMatchObject({ sizeBytes: 64 * MIB });
      await expect(cluster.growVolume({ ...at(), sizeBytes: MIB })).rejects.toMatchObject({
        code: 'not_found',
      });
    });

    it('a removed volume is gone, and to remove it again is no error', async () => {
      const volume = await create();
      await cluster.createSnapshot({ ...volume, snapshot: 's' });
      await cluster.removeVolume(volume);
      await cluster.removeVolume(volume);
      expect(await cluster.readVolume(volume)).toBeNull();
      expect(await cluster.listVolumes(under.pool)).not.toContain(volume.name);
      expect(await under.listTrash()).not.toContain(volume.name);
    });

    it('a volume that a client has open is not removed', async () => {
      const volume = await create();
      const client = await under.open(volume);
      expect(await cluster.readVolume(volume)).toMatchObject({ watchers: [client.address] });
      await expect(cluster.removeVolume(volume)).rejects.toMatchObject({ code: 'busy' });
      await client.write('still here');
      await client.close();
      expect(await under.read(volume)).toBe('still here');
      await cluster.removeVolume(volume);
      expect(await cluster.readVolume(volume)).toBeNull();
    });

    it('a volume without labels is not removed', async () => {
      const foreign = at();
      await under.addForeignVolume(foreign);
      await expect(cluster.removeVolume(foreign)).rejects.toMatchObject({ code: 'denied' });
      expect(await cluster.readVolume(foreign)).not.toBeNull();
    });
  });

  describe('images', () => {
    it('an imported file can be cloned, and what is written to a clone does not change it', async () => {
      expect(image).toMatchObject({ sizeBytes: IMAGE_BYTES, snapshots: [IMAGE_SNAPSHOT] });
      const clone = await create({ image: image.name });
      expect(clone).toMatchObject({ parentId: image.id, sizeBytes: 32 * MIB, snapshots: [] });
      expect(clone.labels).toEqual(labels(clone.name));
      expect(await under.read(clone)).toBe(IMAGE_TEXT);
      await writeText(clone, 'changed');
      expect(await under.read(image)).toBe(IMAGE_TEXT);
      expect(await under.read(clone)).toBe('changed');
    });

    it('a clone is neither smaller than its image nor made of something that is none', async () => {
      const small = create({ image: image.name, sizeBytes: MIB });
      await expect(small).rejects.toMatchObject({ code: 'failed' });
      const plain = await create();
      const absent = { code: 'not_found' };
      await expect(create({ image: plain.name })).rejects.toMatchObject(absent);
      await expect(create({ image: 'absent' })).rejects.toMatchObject(absent);
    });

    it('an image that clones need leaves the list at once, and the trash with its last clone', async () => {
      const parent = await importImage();
      const clone = await create({ image: parent.name });
      await cluster.removeVolume(parent);
      expect(await cluster.readVolume(parent)).toBeNull();
      await cluster.emptyTrash(under.pool);
      expect(await under.listTrash()).toContain(parent.name);
      expect(await under.read(clone)).toBe(IMAGE_TEXT);
      expect(await cluster.readVolume(clone)).toMatchObject({ parentId: parent.id });
      await cluster.removeVolume(clone);
      await cluster.emptyTrash(under.pool);
      expect(await under.listTrash()).not.toContain(parent.name);
    });

    it('a failed import leaves no volume', async () => {
      const wanted = at();
      const absent = path.join(directory, 'absent');
      const attempts = [
        { file: absent, format: 'raw' as const },
        { file, format: 'qcow2' as const },
      ];
      for (const each of attempts) {
        const attempt = cluster.importImage({ ...wanted, labels: labels('x'), ...each });
        await expect(attempt).rejects.toMatchObject({ code: 'failed' });
      }
      expect(await cluster.readVolume(wanted)).toBeNull();
    });
  });

  describe('snapshots', () => {
    it('a volume is set back to a snapshot, with the size that it has now', async () => {
      const volume = await create();
      await writeText(volume, 'before');
      await cluster.createSnapshot({ ...volume, snapshot: 's' });
      await cluster.createSnapshot({ ...volume, snapshot: 's' });
      await writeText(volume, 'after');
      await cluster.growVolume({ ...volume, sizeBytes: 64 * MIB });
      await cluster.restoreSnapshot({ ...volume, snapshot: 's' });
      expect(await under.read(volume)).toBe('before');
      const found = await cluster.readVolume(volume);
      expect(found).toMatchObject({
        ...{ sizeBytes: 64 * MIB, snapshots: ['s'], isRestoring: false },
      });
      await cluster.removeSnapshot({ ...volume, snapshot: 's' });
      await cluster.removeSnapshot({ ...volume, snapshot: 's' });
      expect(await cluster.readVolume(volume)).toMatchObject({ snapshots: [] });
      const gone = cluster.restoreSnapshot({ ...volume, snapshot: 's' });
      await expect(gone).rejects.toMatchObject({ code: 'not_found' });
    });

    it('a volume that a client has open is not set back', async () => {
      const volume = await create();
      await cluster.createSnapshot({ ...volume, snapshot: 's' });
      const client = await under.open(volume);
      await client.write('newer');
      const restore = cluster.restoreSnapshot({ ...volume, snapshot: 's' });
      await expect(restore).rejects.toMatchObject({ code: 'busy' });
      await client.close();
      expect(await under.read(volume)).toBe('newer');
    });

    it('a copy of a snapshot depends on nothing, and to copy again changes nothing', async () => {
      const source = await create({ image: image.name });
      await writeText(source, 'copied');
      const from = { ...source, snapshot: 's' };
      await cluster.createSnapshot(from);
      const to = make32({ sizeBytes: 64 * MIB });
      const copy = await cluster.copySnapshot({ from, to });
      expect(copy).toMatchObject({ parentId: null, snapshots: [], sizeBytes: 64 * MIB });
      expect(copy.labels).toEqual(to.labels);
      expect(await cluster.copySnapshot({ from, to })).toEqual(copy);
      await cluster.removeVolume(source);
      expect(await under.listTrash()).not.toContain(source.name);
      expect(await under.read(copy)).toBe('copied');
      const absent = cluster.copySnapshot({ from, to: make32() });
      await expect(absent).rejects.toMatchObject({ code: 'not_found' });
    });

    it('a copy of a snapshot has what the volume never wrote and shares with its image', async () => {
      const source = await create({ image: image.name });
      const from = { ...source, snapshot: 's' };
      await cluster.createSnapshot(from);
      const copy = await cluster.copySnapshot({ from, to: make32({ sizeBytes: 64 * MIB }) });
      expect(copy).toMatchObject({ parentId: null });
      expect(await under.read(copy)).toBe(IMAGE_TEXT);
    });
  });

  describe('keys', () => {
    it('a key stays the same until it is removed', async () => {
      const volume = await create();
      const entity = `gantry-${volume.name}`;
      const key = await cluster.createKey({ entity, pool: under.pool, volume });
      expect(Buffer.from(key, 'base64').length).toBeGreaterThanOrEqual(16);
      expect(await cluster.createKey({ entity, pool: under.pool, volume })).toBe(key);
      expect(await cluster.listKeys(entity)).toEqual([entity]);
      expect(await cluster.listKeys('absent')).toEqual([]);
      const other = cluster.createKey({ entity, pool: under.pool, volume: await create() });
      await expect(other).rejects.toMatchObject({ code: 'exists' });
      await cluster.removeKey(entity);
      await cluster.removeKey(entity);
      expect(await cluster.listKeys(entity)).toEqual([]);
    });
  });

  describeEncryptionContract({ under: () => under, image: () => image, imageText: IMAGE_TEXT });
  describeFencingContract({ under: () => under, create });
  describeBackupContract(() => under);
}
