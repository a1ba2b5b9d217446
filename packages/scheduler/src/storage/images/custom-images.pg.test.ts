import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { StorageCluster } from '@gantry/ceph/storage-cluster';
import { insertProject } from '@gantry/db/queries/tenants/tenants';
import { newId } from '@gantry/model/ids';
import { badField, refusal } from '@gantry/testkit/api/read-errors';
import { vmBody } from '@gantry/testkit/make/request-bodies';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { endOverdueOperations } from '../../settle/end-overdue.ts';
import { LOCATION, makeStorageWorld, POOL, type StorageWorld } from '../testing/storage-world.ts';

let world: StorageWorld;
beforeAll(async () => {
  world = await makeStorageWorld();
});
afterAll(() => world?.api.stop());
afterEach(async () => {
  world.cluster.setNetwork('up');
  await world.api.sql`update storage_pools set active = id = ${world.poolId}`;
});

let made = 0;
const fresh = (kind: string) => `${kind}-${made++}`;

/** Makes a snapshot of a new disk with this content and returns its id. */
async function makeSnapshot(content: string, disk: object = {}): Promise<string> {
  const disk_id = await world.makeDisk(content, disk);
  const { resourceId } = await world.begin('POST', '/snapshots', { name: fresh('s'), disk_id });
  await world.carryOut();
  return resourceId;
}
const newImage = async (content: string, body: object = {}) =>
  world.begin('POST', '/images', {
    ...{ name: fresh('image'), snapshot_id: await makeSnapshot(content), ...body },
  });
/** Makes an image with this content and returns its id. */
async function makeImage(content: string, body: object = {}): Promise<string> {
  const { resourceId } = await newImage(content, body);
  await world.carryOut();
  return resourceId;
}
const read = async (path: string) => (await world.call('GET', path)).body;
const volumeOf = (imageId: string) =>
  world.cluster.readVolume({ pool: POOL, name: `image-${imageId}` });
const used = async (type: string) => {
  const [row] = await world.api.sql<{ used: number }[]>`select used::int from quotas
    where project_id = ${world.tenant.projectId} and type = ${type}`;
  return row?.used ?? 0;
};
const meterOf = async (imageId: string) =>
  (
    await world.api
      .sql`select resource_type, units::int, ended_at is null as open from meter_intervals where resource_id = ${imageId}`
  )[0];
/** Removes a VM that has no host, as schedulers do. */
async function removeVm(vmId: string): Promise<void> {
  await world.begin('DELETE', `/vms/${vmId}`).catch(() => {});
  await world.carryOut();
}
async function osDiskOf(vmId: string) {
  const [row] = await world.api
    .sql`select d.id, d.pool_id, d.volume_parent_id as parent from disk_attachments a
    join disks d on d.id = a.disk_id where a.vm_id = ${vmId} and a.attachment_type = 'os'`;
  return row as { id: string; pool_id: string; parent: string };
}

describe('an image from a snapshot', () => {
  it('is an operation, a copy in the cluster, counted and metered', async () => {
    const before = [await used('images'), await used('image_gib')];
    const snapshot_id = await makeSnapshot('golden');
    const body = { name: 'golden', description: 'ours', tags: ['a'], snapshot_id };
    const { id, resourceId } = await world.begin('POST', '/images', body);
    expect(await read(`/images/${resourceId}`)).toMatchObject({
      ...{ name: 'golden', description: 'ours', tags: ['a'], locations: [LOCATION], problem: '' },
      ...{ project_id: world.tenant.projectId, visibility: 'project', state: 'creating' },
      size: '10GiB',
    });
    expect(refusal(await world.call('DELETE', `/snapshots/${snapshot_id}`))).toEqual([
      409,
      'conflict',
    ]);
    expect(refusal(await world.call('DELETE', `/images/${resourceId}`))).toEqual([
      409,
      'operation_in_progress',
    ]);
    await world.carryOut();
    const ready = await read(`/images/${resourceId}`);
    expect(ready.state).toBe('ready');
    expect(await world.operation(id)).toMatchObject({
      ...{ state: 'SUCCEEDED', name: 'CREATE', resource_type: 'image', result: ready },
    });
    expect(await volumeOf(resourceId)).toMatchObject({
      ...{ parentId: null, snapshots: ['image'], sizeBytes: 10 * 2 ** 30 },
      labels: { resource: `image-${resourceId}` },
    });
    expect([await used('images'), await used('image_gib')]).toEqual([
      (before[0] ?? 0) + 1,
      (before[1] ?? 0) + 10,
    ]);
    expect(await meterOf(resourceId)).toEqual({ resource_type: 'image', units: 10, open: true });
    await world.begin('DELETE', `/snapshots/${snapshot_id}`);
    await world.carryOut();
    expect(world.contentOf(`image-${resourceId}`)).toBe('golden');
    const { items } = await read('/images');
    expect(items.map((each: { name: string }) => each.name)).toContain('golden');
  });

  it('is what the OS disks of its VMs are clones of, in its pool', async () => {
    const { sql } = world.api;
    const imageId = await makeImage('my system', { name: 'mine' });
    // A pool with more room, which other OS disks of the location would get.
    const [pool] = await sql`select cluster_id from storage_pools where id = ${world.poolId}`;
    const larger = newId();
    await sql`insert into storage_pools (id, cluster_id, name, location, disk_type, size_gib)
      values (${larger}, ${pool?.['cluster_id']}, 'larger', ${LOCATION}, 'persistent-ssd', 1000000)`;
    for (const image of ['mine', imageId]) {
      const vm = await world.begin('POST', '/vms', vmBody({ image, name: fresh('vm') }));
      await world.carryOut();
      const disk = await osDiskOf(vm.resourceId);
      expect(disk).toMatchObject({ pool_id: world.poolId, parent: (await volumeOf(imageId))?.id });
      expect(world.contentOf(disk.id)).toBe('my system');
    }
    const other = await world.begin('POST', '/vms', vmBody({ name: fresh('vm') }));
    expect((await osDiskOf(other.resourceId)).pool_id).toBe(larger);
    await sql`update storage_pools set active = false where id = ${world.poolId}`;
    const full = await world.call('POST', '/vms', vmBody({ image: 'mine', name: fresh('vm') }));
    expect(refusal(full)).toEqual([422, 'out_of_stock']);
  });

  it('is refused to a VM elsewhere, and before it is ready, with the reason', async () => {
    const name = fresh('image');
    await newImage('x', { name });
    const early = await world.call('POST', '/vms', vmBody({ image: name }));
    expect(refusal(early)).toEqual([409, 'conflict']);
    expect(early.body.message).toContain('is creating');
    await world.carryOut();
    const away = await world.call('POST', '/vms', vmBody({ image: name, location: 'us-east-a' }));
    expect(badField(away)).toEqual([400, 'image']);
    expect(away.body.message).toContain(LOCATION);
  });

  it('is refused if no VM could start from it, or if the name is taken', async () => {
    const block = await makeSnapshot('x', { block_size: 4096 });
    const large = await makeSnapshot('x', { size: '129GiB' });
    for (const snapshot_id of [newId(), block, large]) {
      const reply = await world.call('POST', '/images', { name: fresh('image'), snapshot_id });
      expect(badField(reply)).toEqual([400, 'snapshot_id']);
    }
    const snapshot_id = await makeSnapshot('x');
    const taken = await world.call('POST', '/images', { name: 'debian-12', snapshot_id });
    expect(refusal(taken)).toEqual([409, 'name_taken']);
    const name = fresh('image');
    await makeImage('x', { name });
    const again = await world.call('POST', '/images', { name, snapshot_id });
    expect(refusal(again)).toEqual([409, 'name_taken']);
  });

  it('is limited by two quotas', async () => {
    const { sql } = world.api;
    const snapshot_id = await makeSnapshot('x');
    for (const type of ['images', 'image_gib']) {
      const [before] = await sql`update quotas q set max = q.used from quotas o
        where q.project_id = ${world.tenant.projectId} and q.type = ${type}
          and o.project_id = q.project_id and o.type = q.type returning o.max`;
      const reply = await world.call('POST', '/images', { name: fresh('image'), snapshot_id });
      expect(refusal(reply)).toEqual([422, 'quota_exceeded']);
      await sql`update quotas set max = ${before?.['max']} where project_id = ${world.tenant.projectId} and type = ${type}`;
    }
  });

  it('fails for good if the snapshot is gone, and for its deadline if the cluster is away; both can be deleted', async () => {
    const {
      log,
      api: { sql },
    } = world;
    const snapshot_id = await makeSnapshot('x');
    const first = await world.begin('POST', '/images', { name: fresh('image'), snapshot_id });
    const [{ disk_id = '' } = {}] = await sql<
      { disk_id: string }[]
    >`select disk_id from snapshots where id = ${snapshot_id}`;
    await world.cluster.removeSnapshot({ pool: POOL, name: disk_id, snapshot: snapshot_id });
    await world.carryOut();
    expect(await read(`/images/${first.resourceId}`)).toMatchObject({
      ...{ state: 'failed', problem: expect.stringContaining(snapshot_id) },
    });
    expect((await world.operation(first.id)).result.code).toBe('storage_failed');

    const second = await newImage('x');
    world.cluster.setNetwork('down');
    await world.carryOut();
    expect(await read(`/images/${second.resourceId}`)).toMatchObject({
      ...{ state: 'creating', problem: expect.stringMatching(/reply/) },
    });
    await sql`update operations set deadline_at = now() - interval '1 second' where id = ${second.id}`;
    await endOverdueOperations({ sql, log });
    expect((await read(`/images/${second.resourceId}`)).state).toBe('failed');
    world.cluster.setNetwork('up');
    for (const { resourceId } of [first, second]) {
      await world.begin('DELETE', `/images/${resourceId}`);
      await world.carryOut();
      expect(await volumeOf(resourceId)).toBeNull();
      expect(await sql`select from custom_images where id = ${resourceId}`).toHaveLength(0);
    }
  });
});

describe('a deleted image', () => {
  it('is gone for tenants at once, frees its name and quota, and stays for its VMs until the last is gone', async () => {
    const { sql } = world.api;
    const before = await used('images');
    const name = fresh('image');
    const imageId = await makeImage('kept', { name });
    const vm = await world.begin('POST', '/vms', vmBody({ image: name, name: fresh('vm') }));
    const { id } = await world.begin('DELETE', `/images/${imageId}`);
    expect((await world.operation(id)).state).toBe('SUCCEEDED');
    expect((await world.call('GET', `/images/${imageId}`)).status).toBe(404);
    expect((await meterOf(imageId))?.['open']).toBe(false);
    expect(await used('images')).toBe(before);
    const refused = await world.call('POST', '/vms', vmBody({ image: name, name: fresh('vm') }));
    expect(refusal(refused)).toEqual([422, 'unknown_image']);
    // The OS disk of the VM did not exist yet.
    await world.carryOut();
    expect(world.contentOf((await osDiskOf(vm.resourceId)).id)).toBe('kept');
    expect(await volumeOf(imageId)).not.toBeNull();
    expect(await makeImage('another', { name })).not.toBe(imageId);
    await removeVm(vm.resourceId);
    await world.carryOut();
    expect(await volumeOf(imageId)).toBeNull();
    expect(await sql`select from images where id = ${imageId}`).toHaveLength(0);
    expect(await sql`select from custom_images where id = ${imageId}`).toHaveLength(0);
  });

  it('of others, or a volume without our labels, is not removed', async () => {
    const imageId = await makeImage('x');
    const name = `image-${imageId}`;
    await world.cluster.removeVolume({ pool: POOL, name });
    world.cluster.addForeignVolume({ pool: POOL, name });
    await world.begin('DELETE', `/images/${imageId}`);
    await world.carryOut();
    expect(await volumeOf(imageId)).not.toBeNull();
    const [row] = await world.api.sql`select problem from custom_images where id = ${imageId}`;
    expect(row?.['problem']).toContain('not of this installation');
  });
});

describe('a scheduler that is replaced', () => {
  const MOMENTS = (
    ['copySnapshot', 'createSnapshot', 'readVolume', 'removeVolume'] as const
  ).flatMap((method) => [
    { method, when: 'before' as const },
    { method, when: 'after' as const },
  ]);

  it.each(MOMENTS)(
    '$when $method leaves one image or none, and no volume without a row',
    async ({ method, when }) => {
      const { sql } = world.api;
      const dying = (): StorageCluster => ({
        ...world.cluster,
        [method]: async (argument: never) => {
          if (when === 'after') await world.cluster[method](argument);
          throw new Error('the scheduler was killed');
        },
      });
      const run = () => world.carryOut({ cluster: dying() }).catch(() => {});
      const { id, resourceId } = await newImage('x');
      await run();
      await world.carryOut();
      expect((await world.operation(id)).state).toBe('SUCCEEDED');
      expect(await volumeOf(resourceId)).toMatchObject({ snapshots: ['image'] });
      expect(world.contentOf(`image-${resourceId}`)).toBe('x');
      await world.begin('DELETE', `/images/${resourceId}`);
      await run();
      await world.carryOut();
      expect(await volumeOf(resourceId)).toBeNull();
      expect(await sql`select from custom_images where id = ${resourceId}`).toHaveLength(0);
    },
  );

  it('records nothing without the lease', async () => {
    const { id, resourceId } = await newImage('x');
    await world.carryOut({ lease: { ...world.lease, epoch: world.lease.epoch - 1 } });
    expect((await read(`/images/${resourceId}`)).state).toBe('creating');
    await world.carryOut();
    expect((await world.operation(id)).state).toBe('SUCCEEDED');
  });
});

describe('an image of a project', () => {
  /** A second project of the tenant's organization, with the bearer of its owner. */
  async function sibling() {
    const id = newId();
    const organization_id = world.tenant.organizationId;
    await insertProject(world.api.sql, { id, name: fresh('project'), organization_id });
    return { path: `/projects/${id}`, bearer: world.tenant.owner.token };
  }
  const stranger = () => ({
    path: `/projects/${world.stranger.projectId}`,
    bearer: world.stranger.accessKey,
  });
  const names = async ({ path, bearer }: { path: string; bearer: string }) =>
    (await world.call('GET', `${path}/images`, undefined, bearer)).body.items.map(
      (each: { name: string }) => each.name,
    );

  it('does not exist for other projects, nor for other organizations', async () => {
    const name = fresh('image');
    const imageId = await makeImage('x', { name });
    for (const { path, bearer } of [await sibling(), stranger()]) {
      expect(await names({ path, bearer })).not.toContain(name);
      for (const [method, body] of [
        ['GET'],
        ['PATCH', { description: 'x' }],
        ['DELETE'],
      ] as const) {
        const reply = await world.call(method, `${path}/images/${imageId}`, body, bearer);
        expect(refusal(reply)).toEqual([404, 'not_found']);
      }
      for (const image of [name, imageId]) {
        const reply = await world.call('POST', `${path}/vms`, vmBody({ image }), bearer);
        expect(refusal(reply)).toEqual([422, 'unknown_image']);
      }
      const [snapshot] = await world.api.sql`select source_snapshot_id as id from custom_images
        where id = ${imageId}`;
      const body = { name: fresh('image'), snapshot_id: snapshot?.['id'] };
      const copy = await world.call('POST', `${path}/images`, body, bearer);
      expect(badField(copy)).toEqual([400, 'snapshot_id']);
    }
  });

  it('with the visibility organization can be used by its other projects, and changed by its own only', async () => {
    const name = fresh('image');
    const imageId = await makeImage('shared', { name });
    const { id } = await world.begin('PATCH', `/images/${imageId}`, { visibility: 'organization' });
    expect((await world.operation(id)).result.visibility).toBe('organization');
    const { path, bearer } = await sibling();
    expect(await names({ path, bearer })).toContain(name);
    expect(await names(stranger())).not.toContain(name);
    const vm = await world.call('POST', `${path}/vms`, vmBody({ image: name }), bearer);
    expect(vm.status).toBe(200);
    for (const [method, body] of [['PATCH', { description: 'x' }], ['DELETE']] as const) {
      const reply = await world.call(method, `${path}/images/${imageId}`, body, bearer);
      expect(refusal(reply)).toEqual([403, 'forbidden']);
    }
    const strange = stranger();
    const reply = await world.call(
      'POST',
      `${strange.path}/vms`,
      vmBody({ image: imageId }),
      strange.bearer,
    );
    expect(refusal(reply)).toEqual([422, 'unknown_image']);
  });

  it('never takes the place of an image of the catalogue or of another project', async () => {
    const { sql } = world.api;
    const { path, bearer } = await sibling();
    const name = fresh('image');
    const shared = await makeImage('of another project', { name, visibility: 'organization' });
    const imageOf = async () => {
      const reply = await world.call(
        'POST',
        `${path}/vms:validate`,
        vmBody({ image: name }),
        bearer,
      );
      expect(reply.status).toBe(200);
      const vm = await world.call(
        'POST',
        `${path}/vms`,
        vmBody({ image: name, name: fresh('vm') }),
        bearer,
      );
      const [row] = await sql`select image_id from vms where id = ${vm.body.operation.metadata.id}`;
      return row?.['image_id'];
    };
    expect(await imageOf()).toBe(shared);
    const own = newId();
    await sql`insert into images (id, project_id, name) values (${own}, ${path.split('/')[2] ?? ''}, ${name})`;
    await sql`insert into image_locations (image_id, location) values (${own}, ${LOCATION})`;
    expect(await imageOf()).toBe(own);
    const ofCatalogue = newId();
    await sql`insert into images (id, name) values (${ofCatalogue}, ${name})`;
    await sql`insert into image_locations (image_id, location) values (${ofCatalogue}, ${LOCATION})`;
    expect(await imageOf()).toBe(ofCatalogue);
    await sql`update images set retired = true where id = ${ofCatalogue}`;
  });
});

describe('an image from a URL', () => {
  let server: Server;
  let url: string;
  const files = new Map<string, Buffer>();
  beforeAll(async () => {
    server = createServer((request, reply) => {
      if (request.url === '/inside') return reply.writeHead(302, { location: url }).end();
      const file = files.get(request.url ?? '');
      reply.writeHead(file ? 200 : 404).end(file);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => server?.close());

  const ofFile = (content: Buffer, body: object = {}) => {
    const sha256 = createHash('sha256').update(content).digest('hex');
    files.set(`/${sha256}`, content);
    // A name that the api cannot judge; the scheduler resolves it.
    const source_url = `https://localhost/${sha256}`;
    const wanted = { name: fresh('image'), location: LOCATION, size: '1GiB', format: 'raw' };
    return { ...wanted, source_url, sha256, ...body };
  };
  /** Replaces what the api accepted by the address of the server. */
  async function serve(imageId: string, path: string): Promise<void> {
    await world.api
      .sql`update custom_images set source_url = ${`${url}${path}`} where id = ${imageId}`;
  }
  async function settled(body: ReturnType<typeof ofFile>, networks?: 'public') {
    const { id, resourceId } = await world.begin('POST', '/images', body);
    await serve(resourceId, `/${body.sha256}`);
    await world.carryOut(networks ? { networks } : {});
    return { ...(await world.operation(id)), imageId: resourceId };
  }

  it('has the content of the file, and is the parent of clones', async () => {
    const content = Buffer.alloc(1024, 'from a file');
    const { state, imageId } = await settled(ofFile(content));
    expect(state).toBe('SUCCEEDED');
    expect(await volumeOf(imageId)).toMatchObject({ snapshots: ['image'], sizeBytes: 1024 });
    expect(world.contentOf(`image-${imageId}`)).toContain('from a file');
    expect(await meterOf(imageId)).toEqual({ resource_type: 'image', units: 1, open: true });
  });

  it('does not show the query of its URL, which may grant access, in its operation', async () => {
    const body = ofFile(Buffer.alloc(512, 'x'));
    const source_url = `${body.source_url}?X-Signature=secret`;
    const { id } = await world.begin('POST', '/images', { ...body, source_url });
    const [{ request } = {}] = await world.api.sql`select request from operations where id = ${id}`;
    expect(request.source_url).toBe(`${body.source_url}?…`);
  });

  it.each([
    ['another checksum', Buffer.alloc(512, 'x'), { sha256: '0'.repeat(64) }, /404|SHA-256/],
    ['no qcow2 header', Buffer.alloc(512, 'x'), { format: 'qcow2' }, /not a qcow2 file/],
    ['no VMDK header', Buffer.alloc(512, 'x'), { format: 'vmdk' }, /not a sparse VMDK/],
    ['a qcow2 header as raw', Buffer.from('514649fb00000003', 'hex'), {}, /format qcow2/],
    ['a backing file', qcow2(2n ** 20n, 512n), { format: 'qcow2' }, /has a backing file/],
    ['a larger disk', qcow2(2n ** 31n, 0n), { format: 'qcow2' }, /disk of 2147483648 bytes/],
  ])('with %s fails with the reason and leaves no volume', async (_, content, change, reason) => {
    const { state, result, imageId } = await settled(ofFile(content, change));
    expect([state, result.code]).toEqual(['FAILED', 'storage_failed']);
    expect(result.message).toMatch(reason);
    expect(result.message).not.toContain('/tmp');
    expect(await volumeOf(imageId)).toBeNull();
    expect((await read(`/images/${imageId}`)).state).toBe('failed');
  });

  it('is refused if the URL or what it redirects to is inside the operators network', async () => {
    const content = Buffer.alloc(512, 'x');
    for (const source_url of [
      ...['http://example.com/x', 'https://127.0.0.1/x', 'https://169.254.169.254/x'],
      ...['https://10.0.0.1/x', 'file:///etc/passwd', 'https://user:secret@example.com/x'],
    ]) {
      const reply = await world.call('POST', '/images', ofFile(content, { source_url }));
      expect(badField(reply)).toEqual([400, 'source_url']);
    }
    const { state, result } = await settled(ofFile(content), 'public');
    expect([state, result.code]).toEqual(['FAILED', 'storage_failed']);
    expect(result.message).toContain('must begin with https://');
    const { id, resourceId } = await world.begin('POST', '/images', ofFile(content));
    await world.carryOut({ networks: 'public' });
    expect((await world.operation(id)).result.message).toContain('requests may not be sent to');
    expect(await volumeOf(resourceId)).toBeNull();
  });

  it('needs all that the file needs, and a location with network storage', async () => {
    const whole = ofFile(Buffer.alloc(512, 'x'));
    for (const field of ['location', 'size', 'format', 'sha256'] as const) {
      const reply = await world.call('POST', '/images', { ...whole, [field]: undefined });
      expect(badField(reply)).toEqual([400, field]);
    }
    for (const [field, body] of [
      ['size', { ...whole, size: '129GiB' }],
      ['location', { ...whole, location: 'us-east-a' }],
      ['snapshot_id', { name: fresh('image') }],
      ['source_url', { name: fresh('image'), snapshot_id: newId(), source_url: whole.source_url }],
      ['format', { name: fresh('image'), snapshot_id: newId(), format: 'raw' }],
    ] as const) {
      expect([400, field]).toEqual(badField(await world.call('POST', '/images', body)).slice(0, 2));
    }
  });
});

/** The header of a qcow2 file with a disk of this size and the name of a backing file at this offset. */
function qcow2(sizeBytes: bigint, backingAt: bigint): Buffer {
  const head = Buffer.alloc(512);
  head.writeUInt32BE(0x51_46_49_fb, 0);
  head.writeUInt32BE(3, 4);
  head.writeBigUInt64BE(backingAt, 8);
  head.writeBigUInt64BE(sizeBytes, 24);
  return head;
}
