import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connectCeph } from '@gantry/ceph/ceph-cluster';
import type { StorageCluster } from '@gantry/ceph/storage-cluster';
import { startCeph, type TestCeph } from '@gantry/testkit/ceph/start-ceph';
import { vmBody } from '@gantry/testkit/make/request-bodies';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { realVolumes } from '../testing/real-volumes.ts';
import { LOCATION, makeStorageWorld, POOL, type StorageWorld } from '../testing/storage-world.ts';

let ceph: TestCeph;
let cluster: StorageCluster;
let world: StorageWorld;

beforeAll(async () => {
  ceph = await startCeph();
  cluster = connectCeph(ceph);
  world = await makeStorageWorld({ real: cluster });
});
afterAll(async () => {
  await world?.api.stop();
  await cluster?.close();
  await ceph?.stop();
});

const { qemuIo, has, finish } = realVolumes(() => ({ ceph, world }));

async function makeSnapshot(name: string, byte: string): Promise<string> {
  const disk_id = await world.makeDisk('', { size: '1GiB' });
  await qemuIo(disk_id, `write -P ${byte} 0 4M`);
  const snapshotId = await finish('POST', '/snapshots', { name, disk_id });
  await qemuIo(disk_id, 'write -P 0x77 0 4M');
  return snapshotId;
}

async function osDiskOf(vmId: string): Promise<string> {
  const [row] = await world.api.sql<{ id: string }[]>`select disk_id as id from disk_attachments
    where vm_id = ${vmId} and attachment_type = 'os'`;
  return row?.id ?? '';
}

it('the OS disk of a VM is a clone of the image, also after the snapshot and the image are deleted', async () => {
  const snapshot_id = await makeSnapshot('first', '0x41');
  const imageId = await finish('POST', '/images', { name: 'golden', snapshot_id });
  const volume = await cluster.readVolume({ pool: POOL, name: `image-${imageId}` });
  expect(volume).toMatchObject({ parentId: null, snapshots: ['image'], sizeBytes: 2 ** 30 });
  await finish('DELETE', `/snapshots/${snapshot_id}`);

  const body = vmBody({ image: 'golden', name: 'vm' });
  const { resourceId: vmId } = await world.begin('POST', '/vms', body);
  await world.carryOut();
  const diskId = await osDiskOf(vmId);
  const disk = await cluster.readVolume({ pool: POOL, name: diskId });
  expect(disk).toMatchObject({ parentId: volume?.id, sizeBytes: 128 * 2 ** 30 });
  expect(await has(diskId, '0x41')).toBe(true);
  // The guest's writes go to its clone.
  await qemuIo(diskId, 'write -P 0x42 0 4M');
  expect(await has(`image-${imageId}`, '0x41')).toBe(true);

  await world.begin('DELETE', `/images/${imageId}`);
  await world.carryOut();
  expect(await cluster.readVolume({ pool: POOL, name: `image-${imageId}` })).not.toBeNull();
  // As schedulers do when the VM is gone: its disk is removed later.
  await world.api.sql`delete from disk_attachments where vm_id = ${vmId}`;
  await world.api.sql`delete from network_interfaces where vm_id = ${vmId}`;
  await world.api.sql`delete from vms where id = ${vmId}`;
  await world.carryOut();
  expect(await cluster.readVolume({ pool: POOL, name: `image-${imageId}` })).toBeNull();
  expect(await has(diskId, '0x42')).toBe(true);
  expect(await ceph.run('rbd', 'trash', 'ls', POOL)).toContain(`image-${imageId}`);
  await cluster.removeVolume({ pool: POOL, name: diskId });
  await cluster.emptyTrash(POOL);
  expect(await ceph.run('rbd', 'trash', 'ls', POOL)).toBe('');
});

it('an interrupted copy leaves no image, and the next attempt completes it', async () => {
  const snapshot_id = await makeSnapshot('second', '0x51');
  const { id, resourceId } = await world.begin('POST', '/images', { name: 'again', snapshot_id });
  const doomed = connectCeph(ceph);
  const copying = world.carryOut({ cluster: doomed });
  await doomed.close();
  await copying.catch(() => {});
  await world.carryOut();
  expect(await world.operation(id)).toMatchObject({ state: 'SUCCEEDED' });
  expect(await has(`image-${resourceId}`, '0x51')).toBe(true);
});

it.each(['qcow2', 'vmdk', 'vmdk streamOptimized'])(
  'a file of the format %s is converted',
  async (kind) => {
    const [format = '', subformat] = kind.split(' ');
    const [raw, file] = ['raw', 'converted'].map((name) => join(ceph.directory, `${kind} ${name}`));
    if (raw === undefined || file === undefined) throw new Error('BUG: two names');
    await writeFile(raw, Buffer.alloc(8 * 2 ** 20, 0x61));
    const options = subformat ? ['-o', `subformat=${subformat}`] : [];
    await ceph.run('qemu-img', 'convert', '-f', 'raw', '-O', format, ...options, raw, file);
    const content = await readFile(file);
    const sha256 = createHash('sha256').update(content).digest('hex');
    const server = createServer((_, reply) => reply.end(content));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      const { id, resourceId } = await world.begin('POST', '/images', {
        ...{ name: kind.replace(' ', '-').toLowerCase(), format, location: LOCATION, size: '1GiB' },
        ...{ source_url: 'https://example.com/', sha256 },
      });
      await world.api.sql`update custom_images set source_url = ${`http://127.0.0.1:${port}/`}
      where id = ${resourceId}`;
      await world.carryOut();
      expect(await world.operation(id)).toMatchObject({ state: 'SUCCEEDED' });
      expect(await has(`image-${resourceId}`, '0x61')).toBe(true);
    } finally {
      server.close();
    }
  },
);

it('a VMDK file that names another file is refused before QEMU sees it', async () => {
  const secret = join(ceph.directory, 'secret');
  await writeFile(secret, Buffer.alloc(2 ** 20, 0x62));
  const base = join(ceph.directory, 'base.vmdk');
  const delta = join(ceph.directory, 'delta.vmdk');
  const flat = join(ceph.directory, 'flat.vmdk');
  await ceph.run('qemu-img', 'convert', '-f', 'raw', '-O', 'vmdk', secret, base);
  await ceph.run('qemu-img', 'create', '-q', '-f', 'vmdk', '-b', base, '-F', 'vmdk', delta);
  await ceph.run(
    ...(['qemu-img', 'create', '-q', '-f', 'vmdk', '-o', 'subformat=monolithicFlat'] as const),
    ...[flat, '1M'],
  );
  const at = { pool: POOL, name: 'image-x', labels: { installation: 'i', resource: 'r' } };
  const importing = (file: string) => cluster.importImage({ ...at, file, format: 'vmdk' });
  await expect(importing(delta)).rejects.toThrow('has a backing file');
  await expect(importing(flat)).rejects.toThrow('is not a sparse VMDK file');
  expect(await cluster.listVolumes(POOL)).not.toContain('image-x');
});
