import type { Fitting } from '@gantry/db/queries/catalogue/availabilities';
import { newId } from '@gantry/model/ids';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { addHosts, type TestHost } from '@gantry/testkit/make/hosts';
import { unplaceVms } from '@gantry/testkit/make/placements';
import { holdLocation, makePlacer, meanwhile } from '@gantry/testkit/make/placers';
import { addProject } from '@gantry/testkit/make/tenants';
import { addVms, startVms } from '@gantry/testkit/make/vms';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { writeAvailabilities } from './availabilities.ts';
import { type Placer, placePending } from './place-pending.ts';

/** Every VM has an OS disk of 128 GiB. */
const OS_DISK_GIB = 128;
const TYPE = 'a40.1x';

let database: TestDatabase;
let projectId: string;
let host: TestHost;
let placer: Placer;

beforeAll(async () => {
  database = await createTestDatabase();
  projectId = await addProject(database.sql);
});
afterAll(() => database.drop());

/** One host with eight GPUs; those of earlier tests are cordoned. */
beforeEach(async () => {
  const { sql } = database;
  await sql`update hosts set admin_state = 'cordoned'`;
  [host] = (await addHosts(sql, 1, { gpus: 8 })) as [TestHost];
  placer = makePlacer(sql, await holdLocation(sql));
});

const offerStorage = (gib: number | null) =>
  database.sql`update hosts set storage_gib = ${gib} where id = ${host.id}`;
const addVm = async () => {
  const [vmId = ''] = await addVms(database.sql, 1, { projectId, type: TYPE });
  return vmId;
};
const isPlaced = async (vmId: string) =>
  (await database.sql`select from placements where vm_id = ${vmId}`).length > 0;
const freeGib = () => placer.hostCache.index.read(host.id)?.freeStorageGib;
const failureOf = async (vmId: string) =>
  (await database.sql`select result from operations where resource_id = ${vmId}`)[0]?.['result'];

/** Attaches a data disk to a VM, as the api does for a VM that has no host. */
async function attachDisk(vmId: string, { gib = 100, type = 'persistent-ssd' } = {}) {
  const { sql } = database;
  const id = newId();
  await sql`insert into disks (id, project_id, kind, name, type, size, size_gib, location, block_size, serial_number,
      observed_size_gib)
    values (${id}, ${projectId}, 'data', ${id}, ${type}, ${`${gib}GiB`}, ${gib}, 'eu-north-a', 0, ${id}, ${gib})`;
  await sql`insert into disk_attachments (disk_id, vm_id, attachment_type, mode, exclusive)
    values (${id}, ${vmId}, 'data', 'read-write', true)`;
  return id;
}

/** The host has created all disks that it was to create. */
const createDisks = () =>
  database.sql`update disks d set host_id = ${host.id}, observed_size_gib = size_gib from disk_attachments a
    join placements p on p.vm_id = a.vm_id where a.disk_id = d.id and p.host_id = ${host.id}`;

it('VMs are placed while their OS disks fit the storage of a host, and the next one fails', async () => {
  await offerStorage(3 * OS_DISK_GIB - 1);
  const vmIds = await addVms(database.sql, 3, { projectId, type: TYPE });
  expect(await placePending(placer)).toMatchObject({ placed: 2, failed: 1 });
  expect(await failureOf(vmIds[2] ?? '')).toMatchObject({
    code: 'out_of_stock',
    details: { filters: expect.arrayContaining([{ filter: 'disk_space', left: 0 }]) },
  });
});

it('a host that does not report its storage takes VMs until its GPUs are used up', async () => {
  await offerStorage(null);
  await addVms(database.sql, 8, { projectId, type: TYPE });
  expect(await placePending(placer)).toMatchObject({ placed: 8, failed: 0 });
});

it('a decision on storage that is not free any more is taken back and made again', async () => {
  await offerStorage(OS_DISK_GIB);
  const vmId = await addVm();
  meanwhile(placer, () => offerStorage(OS_DISK_GIB - 1));
  expect(await placePending(placer)).toMatchObject({ placed: 0, failed: 1 });
  expect(await isPlaced(vmId)).toBe(false);
});

it('the disks of a host count before and after it has created them', async () => {
  await offerStorage(1000);
  const vmId = await addVm();
  await attachDisk(vmId, { gib: 300 });
  await attachDisk(vmId, { gib: 400, type: 'shared-volume' });
  await placePending(placer);
  const left = 1000 - OS_DISK_GIB - 300;
  expect(freeGib()).toBe(left);
  for (const happens of [
    async () => undefined,
    createDisks,
    () => unplaceVms(database.sql, [vmId]),
  ]) {
    await happens();
    await placer.hostCache.reread([host.id]);
    expect(freeGib()).toBe(left);
  }
});

it('a VM with a data disk is placed where both of its disks fit', async () => {
  await offerStorage(OS_DISK_GIB + 99);
  const [roomy] = await addHosts(database.sql, 1, { gpus: 8 });
  await database.sql`update hosts set storage_gib = ${OS_DISK_GIB + 100} where id = ${roomy?.id ?? ''}`;
  const vmId = await addVm();
  await attachDisk(vmId, { gib: 100 });
  expect(await placePending(placer)).toMatchObject({ placed: 1, hostIds: [roomy?.id] });
});

it('a VM whose disks exist starts on its host although the disks there are too large together', async () => {
  const vmId = await addVm();
  await placePending(placer);
  await createDisks();
  await unplaceVms(database.sql, [vmId]);
  await offerStorage(1);
  await startVms(database.sql, [vmId]);
  const other = await addVm();
  expect(await placePending(placer)).toMatchObject({ placed: 1, failed: 1 });
  expect([await isPlaced(vmId), await isPlaced(other)]).toEqual([true, false]);
});

it('storage is free again when the host has removed the disk', async () => {
  await offerStorage(OS_DISK_GIB);
  const vmId = await addVm();
  await placePending(placer);
  await createDisks();
  await unplaceVms(database.sql, [vmId]);
  const { sql } = database;
  await sql`update vms set desired_state = 'deleted' where id = ${vmId}`;
  await placer.hostCache.refresh();
  expect(freeGib()).toBe(0);
  await sql`update disks set host_id = null, observed_size_gib = null where id = ${vmId}`;
  await placer.hostCache.refresh();
  expect(freeGib()).toBe(OS_DISK_GIB);
});

it('a type is available only while a host has room for an OS disk', async () => {
  const { sql } = database;
  const available = async () => {
    await placer.hostCache.refresh();
    const { index } = placer.hostCache;
    const type = {
      ...{ name: TYPE, cpu_cores: 6, memory_gb: 60, disk_gb: 960, disk_count: 1 },
      ...{ gpu_count: 1, gpu_type: 'A40 48GB PCIe', network_gbps: 10, may_split: false },
      nested_virtualization: false,
    };
    const written = new Map<string, Fitting>();
    await writeAvailabilities({ sql, lease: placer.lease, index, types: [type], written });
    return written.get(TYPE);
  };
  await offerStorage(OS_DISK_GIB);
  expect(await available()).toEqual({ fitting: 1, lacking: '' });
  await offerStorage(OS_DISK_GIB - 1);
  expect(await available()).toEqual({ fitting: 0, lacking: 'disk_space' });
});
