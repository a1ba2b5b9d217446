import { openStream } from '@gantry/db/queries/host-liveness';
import { createTestDatabase, type TestDatabase } from '@gantry/db/testing';
import { newId } from '@gantry/model/ids';
import type { Inventory__Output } from '@gantry/proto/generated/gantry/v1/Inventory';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { recordInventory } from './record-inventory.ts';
import { makeInventory, makePci } from './testing/make-inventory.ts';

let database: TestDatabase;
let hostId: string;
let streamEpoch: string;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  hostId = newId();
  await database.sql`insert into hosts (id, location, name) values (${hostId}, 'eu-north-a', ${hostId})`;
  streamEpoch = (await openStream(database.sql, { hostId, schedulerId: newId() })) ?? '';
});

const gpu = (address: string) => ({ pci: makePci(address), nvlinkPeer: '' });
const drive = (serial: string, sizeBytes: string) => ({
  ...{ pci: makePci('0000:80:00.0'), serial, model: '', firmware: '', sizeBytes },
});
const record = (change: Partial<Inventory__Output>) =>
  recordInventory(database.sql, { hostId, streamEpoch, inventory: makeInventory(change) });
const gpus = () =>
  database.sql`select pci_address, state, xmin from gpus where host_id = ${hostId} order by 1`;
const both = { gpus: [gpu('0000:10:00.0'), gpu('0000:11:00.0')] };

it('a device that is not found is missing, and ready when it is back', async () => {
  await record(both);
  await record({ gpus: [gpu('0000:10:00.0')] });
  expect(await gpus()).toMatchObject([{ state: 'ready' }, { state: 'missing' }]);
  await record(both);
  expect(await gpus()).toMatchObject([{ state: 'ready' }, { state: 'ready' }]);
});

it('a device in quarantine stays there, found or not', async () => {
  await record(both);
  await database.sql`update gpus set state = 'quarantined' where host_id = ${hostId} and pci_address = '0000:11:00.0'`;
  await record({ gpus: [gpu('0000:10:00.0')] });
  await record(both);
  expect(await gpus()).toMatchObject([{ state: 'ready' }, { state: 'quarantined' }]);
});

it('the same inventory again writes nothing', async () => {
  await record(both);
  const rows = () =>
    database.sql`select h.xmin as host, g.xmin as gpu, r.xmin as revision from hosts h
      join gpus g on g.host_id = h.id join host_revisions r on r.host_id = h.id where h.id = ${hostId}`;
  const before = await rows();
  await record(both);
  expect(await rows()).toEqual(before);
});

it('a drive that a VM has does not tell its serial number or size: what was known stays', async () => {
  await record({ nvmes: [drive('S1', '960000000000')] });
  await record({ nvmes: [drive('', '0')] });
  expect(
    await database.sql`select serial, size_gb, state from drives where host_id = ${hostId}`,
  ).toMatchObject([{ serial: 'S1', size_gb: 960, state: 'ready' }]);
});

it('what came by an earlier stream, or from a fenced host, changes nothing', async () => {
  await record(both);
  await openStream(database.sql, { hostId, schedulerId: newId() });
  await record({ gpus: [] });
  expect(await gpus()).toMatchObject([{ state: 'ready' }, { state: 'ready' }]);
});

it('placement is told; the wanted state of the host is not another', async () => {
  const revision = async () =>
    (
      await database.sql`select number, changed_xid::text from host_revisions where host_id = ${hostId}`
    )[0];
  const before = await revision();
  await record({ ...both, sharedStorage: true, software: { ...NAMES, os: 'a\0b' } });
  const after = await revision();
  expect(after?.['number']).toBe(before?.['number']);
  expect(after?.['changed_xid']).not.toBe(before?.['changed_xid']);
  expect(
    await database.sql`select shared_storage, inventory -> 'software' ->> 'os' as os from hosts where id = ${hostId}`,
  ).toMatchObject([{ shared_storage: true, os: 'ab' }]);
});

const NAMES = { os: '', kernel: '6.1', firmware: '', libvirt: '', agent: '0.1.0' };
