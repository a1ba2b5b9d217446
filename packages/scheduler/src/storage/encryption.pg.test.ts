import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createSecrets } from '@gantry/daemon/secrets';
import { listDiscardedVolumes } from '@gantry/db/queries/storage/volume-work';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { removeVolume } from './remove-volume.ts';
import { StorageClusters } from './storage-clusters.ts';
import { LOCATION, makeStorageWorld, POOL, type StorageWorld } from './testing/storage-world.ts';
import type { VolumeContext } from './volume-context.ts';
import { PASSPHRASE_PURPOSE, resealPassphrases } from './volume-passphrases.ts';

let world: StorageWorld;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'gantry-encryption-'));
  world = await makeStorageWorld({ backupDirectory: directory, encrypted: true });
});
afterAll(async () => {
  await world?.api.stop();
  await rm(directory, { recursive: true, force: true });
});

const sealedOf = async (diskId: string): Promise<string | undefined> => {
  const [row] = await world.api.sql<{ sealed: string }[]>`
    select sealed_passphrase as sealed from volume_passphrases where disk_id = ${diskId}`;
  return row?.sealed;
};
const passphraseOf = async (diskId: string) =>
  world.secrets.unseal(PASSPHRASE_PURPOSE, (await sealedOf(diskId)) ?? '');
const contentOf = async (diskId: string) =>
  world.cluster.readContent({ pool: POOL, name: diskId, passphrase: await passphraseOf(diskId) });
const succeed = async (method: string, at: string, body?: unknown) => {
  const { id, resourceId } = await world.begin(method, at, body);
  await world.carryOut();
  expect(await world.operation(id)).toMatchObject({ state: 'SUCCEEDED' });
  return resourceId;
};
const context = (): VolumeContext => {
  const { api, log, secrets, cluster } = world;
  const { sql } = api;
  const clusters = new StorageClusters({ sql, log, open: async () => cluster });
  return { sql, log, secrets, clusters } as unknown as VolumeContext;
};
/** Deletes a disk, and removes its volume as start-volumes.ts does. */
const deleteDisk = async (diskId: string) => {
  await succeed('DELETE', `/disks/${diskId}`);
  await removeVolumes();
};
const removeVolumes = async () => {
  const { api, lease } = world;
  const selection = { location: LOCATION, limit: 100, notIds: [], notClusters: [] };
  for (const volume of await listDiscardedVolumes(api.sql, selection))
    await removeVolume(context(), { lease, volume });
};
const copy = (source: object) => ({ name: 'copy', size: '10GiB', location: LOCATION, ...source });

it('a disk of an encrypted pool has a passphrase of its own, which is stored sealed and destroyed with it', async () => {
  const [one, two] = [await world.makeDisk('one'), await world.makeDisk('two')];
  expect(await passphraseOf(one)).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(await passphraseOf(one)).not.toBe(await passphraseOf(two));
  expect(await sealedOf(one)).not.toContain(await passphraseOf(one));
  expect(await world.cluster.readVolume({ pool: POOL, name: one })).toMatchObject({
    encrypted: true,
  });
  expect(await contentOf(one)).toBe('one');
  expect(world.contentOf(one)).toBe('encrypted');
  expect((await world.call('GET', `/disks/${one}`)).body).toMatchObject({ encrypted: true });
  await deleteDisk(one);
  expect(await sealedOf(one)).toBeUndefined();
  expect(await contentOf(two)).toBe('two');
  await deleteDisk(two);
});

it('a creation whose reply was lost is repeated with the same passphrase', async () => {
  const { id, resourceId } = await world.begin('POST', '/disks', copy({ name: 'repeated' }));
  world.cluster.setNetwork('no_replies');
  await world.carryOut();
  const sealed = await sealedOf(resourceId);
  expect(sealed).toBeDefined();
  world.cluster.setNetwork('up');
  await world.carryOut();
  expect(await world.operation(id)).toMatchObject({ state: 'SUCCEEDED' });
  expect(await sealedOf(resourceId)).toBe(sealed);
  await deleteDisk(resourceId);
});

it('a disk from a snapshot has the passphrase of its source, also after the source is gone', async () => {
  const source = await world.makeDisk('kept');
  const snapshot = await succeed('POST', '/snapshots', { name: 's', disk_id: source });
  const made = await succeed('POST', '/disks', copy({ snapshot_id: snapshot }));
  expect(await passphraseOf(made)).toBe(await passphraseOf(source));
  await deleteDisk(source);
  // The snapshot is part of the volume.
  expect(await sealedOf(source)).toBeDefined();
  await succeed('DELETE', `/snapshots/${snapshot}`);
  await removeVolumes();
  expect(await sealedOf(source)).toBeUndefined();
  expect(await contentOf(made)).toBe('kept');
  await deleteDisk(made);
});

it('a backup keeps the passphrase of a deleted disk until it is deleted itself', async () => {
  const source = await world.makeDisk('saved');
  const backup = await succeed('POST', '/backups', { name: 'b', disk_id: source });
  await deleteDisk(source);
  expect(await sealedOf(source)).toBeDefined();
  const made = await succeed('POST', '/disks', copy({ backup_id: backup }));
  expect(await contentOf(made)).toBe('saved');
  await succeed('DELETE', `/backups/${backup}`);
  expect(await sealedOf(source)).toBeUndefined();
  expect(await contentOf(made)).toBe('saved');
  await deleteDisk(made);
});

it('an image is not made of an encrypted disk, because images are not encrypted', async () => {
  const source = await world.makeDisk('secret');
  const snapshot = await succeed('POST', '/snapshots', { name: 's', disk_id: source });
  const reply = await world.call('POST', '/images', { name: 'leak', snapshot_id: snapshot });
  expect(reply).toMatchObject({
    status: 400,
    body: { details: [{ field: 'snapshot_id', reason: expect.stringContaining('encrypted') }] },
  });
});

it('passphrases are sealed with the first fleet key after it was replaced', async () => {
  const diskId = await world.makeDisk('moved');
  const passphrase = await passphraseOf(diskId);
  const first = 'the second key of the storage world';
  const both = createSecrets(`${first}\nthe first key of the storage world`);
  await resealPassphrases({ ...context(), secrets: both }, world.poolId);
  const sealed = (await sealedOf(diskId)) ?? '';
  expect(createSecrets(first).unseal(PASSPHRASE_PURPOSE, sealed)).toBe(passphrase);
});
