import { createLog } from '@gantry/daemon/log';
import { openStream } from '@gantry/db/queries/hosts/host-liveness';
import { newId } from '@gantry/model/ids';
import type { Device__Output } from '@gantry/proto/generated/gantry/v1/Device';
import type { Inventory__Output } from '@gantry/proto/generated/gantry/v1/Inventory';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { addHost } from '@gantry/testkit/make/hosts';
import { placeVm } from '@gantry/testkit/make/placements';
import { addProject } from '@gantry/testkit/make/tenants';
import { addVms } from '@gantry/testkit/make/vms';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { HEALTH_RULES } from '../health/health-rules.ts';
import { readHealthRules } from '../health/read-rules.ts';
import { recordInventory } from './record-inventory.ts';
import { makeDrive, makeGpu, makeInventory, makeSoftware } from './testing/make-inventory.ts';

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

const log = createLog({ process: 'test', level: 'silent' });
const gpu = (address: string) => makeGpu(address);
const drive = (change: Partial<Device__Output>) => makeDrive('0000:80:00.0', change);
const record = (change: Partial<Inventory__Output>, rules = HEALTH_RULES) =>
  recordInventory({
    sql: database.sql,
    log,
    rules,
    hostId,
    streamEpoch,
    inventory: makeInventory(change),
  });
const drives = () =>
  database.sql`select serial, size_gb, state, state_reason, uses from devices where kind = 'drive' and host_id = ${hostId}`;
const gpus = () =>
  database.sql`select pci_address, state, xmin from devices where kind = 'gpu' and host_id = ${hostId} order by 1`;
const both = { devices: [gpu('0000:10:00.0'), gpu('0000:11:00.0')] };

it('a device that is absent is missing, and ready when it is back', async () => {
  await record(both);
  await record({ devices: [gpu('0000:10:00.0')] });
  expect(await gpus()).toMatchObject([{ state: 'ready' }, { state: 'missing' }]);
  await record(both);
  expect(await gpus()).toMatchObject([{ state: 'ready' }, { state: 'ready' }]);
});

it('a quarantined device stays quarantined, present or not', async () => {
  await record(both);
  await database.sql`update devices set state = 'quarantined' where kind = 'gpu' and host_id = ${hostId} and pci_address = '0000:11:00.0'`;
  await record({ devices: [gpu('0000:10:00.0')] });
  await record(both);
  expect(await gpus()).toMatchObject([{ state: 'ready' }, { state: 'quarantined' }]);
});

describe('an unchanged inventory', () => {
  const withDrive = {
    devices: [...both.devices, drive({ serial: 'S1', sizeBytes: '960000000000' })],
  };
  const rows = async () =>
    (
      await database.sql`select h.xmin as host, g.xmin as gpu, d.xmin as drive, r.xmin as revision from hosts h
      join devices g on g.host_id = h.id join devices d on d.host_id = h.id and d.kind = 'drive'
      join host_revisions r on r.host_id = h.id
      where h.id = ${hostId} and g.pci_address = '0000:10:00.0'`
    )[0];

  it('is not written again', async () => {
    await record(withDrive);
    const before = await rows();
    await record(withDrive);
    expect(await rows()).toEqual(before);
  });

  it('with another counter value does not make placement read the host again', async () => {
    const aer = { correctable: '1', nonfatal: '0', fatal: '0' };
    const identified = drive({ serial: 'S1', sizeBytes: '960000000000' });
    await record({ devices: [makeGpu('0000:10:00.0', { aer }), identified] });
    const before = await rows();
    const counted = makeGpu('0000:10:00.0', { aer: { ...aer, correctable: '2' } });
    await record({ devices: [counted, drive({})] });
    const { host, ...others } = (await rows()) ?? {};
    expect(host).not.toBe(before?.['host']);
    expect(others).toEqual({
      gpu: before?.['gpu'],
      drive: before?.['drive'],
      revision: before?.['revision'],
    });
  });

  it('is judged again when the rules change', async () => {
    const narrow = { speedGts: 16, maxSpeedGts: 16, width: 8, maxWidth: 16 };
    const devices = [makeGpu('0000:10:00.0', { link: narrow })];
    const blocked = async () =>
      (
        await database.sql`select blocked from devices where kind = 'gpu' and host_id = ${hostId}`
      )[0]?.['blocked'];
    await record({ devices });
    expect(await blocked()).toBe(true);
    await record({ devices }, readHealthRules('{"link_narrow": {"severity": "warn"}}'));
    expect(await blocked()).toBe(false);
  });
});

it('a claimed drive keeps its known serial number and size when it reports none', async () => {
  await record({ devices: [drive({ serial: 'S1', sizeBytes: '960000000000' })] });
  await record({ devices: [drive({})] });
  expect(await drives()).toMatchObject([{ serial: 'S1', size_gb: 960, state: 'ready' }]);
});

it('a drive that its host uses takes no VM', async () => {
  const uses = ['mounted at /data', 'in the RAID md0'];
  await record({ devices: [drive({ uses })] });
  expect(await drives()).toMatchObject([{ state: 'used_by_host', uses }]);
  await record({ devices: [] });
  expect(await drives()).toMatchObject([{ state: 'missing' }]);
  await record({ devices: [drive({})] });
  expect(await drives()).toMatchObject([{ state: 'ready', uses: [] }]);
  await record({ devices: [drive({ uses })] });
  expect(await drives()).toMatchObject([{ state: 'used_by_host', uses }]);
});

describe('a drive that was not cleaned on its previous host', () => {
  const leaveDirty = (serial: string, failureCode = 'erase_failed', id = newId()) =>
    database.sql`insert into device_receipts (id, device_id, kind, host_id, pci_address, serial, vm_id, project_id,
        method, finished_at, failure_code, failure_message)
      values (${id}, ${newId()}, 'drive', ${newId()}, '0000:01:00.0', ${serial}, ${newId()}, ${newId()},
        'none', now(), ${failureCode}, 'it did not respond')`;

  it('is quarantined on its new host', async () => {
    await leaveDirty(hostId);
    await record({ devices: [drive({ serial: hostId })] });
    const quarantined = {
      state: 'quarantined',
      state_reason: 'not proven clean where it was before: it did not respond',
    };
    expect(await drives()).toMatchObject([quarantined]);
  });

  it('is quarantined in the slot of another drive, and not again after its release', async () => {
    await record({ devices: [drive({ serial: 'another' })] });
    await leaveDirty(hostId);
    await record({ devices: [drive({ serial: hostId })] });
    expect(await drives()).toMatchObject([{ state: 'quarantined' }]);
    await database.sql`update devices set state = 'ready' where kind = 'drive' and host_id = ${hostId}`;
    await record({ devices: [drive({ serial: hostId, uses: ['swap'] })] });
    await record({ devices: [drive({ serial: hostId })] });
    expect(await drives()).toMatchObject([{ state: 'ready' }]);
  });

  it('is ready if it was cleaned since', async () => {
    await leaveDirty(hostId);
    await leaveDirty(hostId, '');
    await record({ devices: [drive({ serial: hostId })] });
    expect(await drives()).toMatchObject([{ state: 'ready', state_reason: '' }]);
  });

  it.each([
    { last: 'failed', codes: ['', 'erase_failed'], state: 'quarantined' },
    { last: 'succeeded', codes: ['erase_failed', ''], state: 'ready' },
  ])(
    'is $state if the cleaning that the database recorded last $last, whatever the ids',
    async ({ codes, state }) => {
      // Two processes made these ids in the same millisecond, and the later receipt has the smaller id.
      const [smaller, greater] = [newId(1), newId(1)].sort();
      await leaveDirty(hostId, codes[0], greater);
      await leaveDirty(hostId, codes[1], smaller);
      await record({ devices: [drive({ serial: hostId })] });
      expect(await drives()).toMatchObject([{ state }]);
    },
  );
});

describe('a drive that appears elsewhere while a VM still has a claim on it', () => {
  /** Returns the VM that has a claim on the drive in its old slot. */
  async function claimElsewhere(serial: string): Promise<string> {
    const { sql } = database;
    const other = await addHost(sql, { gpus: 1 });
    const [vmId = ''] = await addVms(sql, 1, { projectId: await addProject(sql) });
    await placeVm(sql, { vmId, hostId: other.id, devices: 'all' });
    await sql`update devices set serial = ${serial} where kind = 'drive' and host_id = ${other.id}`;
    return vmId;
  }

  it('is quarantined in a slot that was empty', async () => {
    const vmId = await claimElsewhere(hostId);
    await record({ devices: [drive({ serial: hostId })] });
    expect(await drives()).toMatchObject([
      { state: 'quarantined', state_reason: expect.stringContaining(`assigned to VM ${vmId}`) },
    ]);
  });

  it('is quarantined in a slot that had another drive', async () => {
    await record({ devices: [drive({ serial: 'another' })] });
    await claimElsewhere(hostId);
    await record({ devices: [drive({ serial: hostId })] });
    expect(await drives()).toMatchObject([{ serial: hostId, state: 'quarantined' }]);
  });

  it('does not change the state of a drive in the slot in which the VM has it', async () => {
    await record({ devices: [drive({ serial: hostId })] });
    const [vmId = ''] = await addVms(database.sql, 1, {
      projectId: await addProject(database.sql),
    });
    await placeVm(database.sql, { vmId, hostId, devices: 'all' });
    await record({ devices: [drive({ serial: hostId, uses: ['swap'] })] });
    await record({ devices: [drive({ serial: hostId })] });
    expect(await drives()).toMatchObject([{ state: 'ready', state_reason: '' }]);
  });
});

it('an inventory from an earlier stream or a fenced host changes nothing', async () => {
  await record(both);
  await openStream(database.sql, { hostId, schedulerId: newId() });
  await record({ devices: [] });
  expect(await gpus()).toMatchObject([{ state: 'ready' }, { state: 'ready' }]);
});

it('a new inventory wakes placement and does not change the spec of the host', async () => {
  const revision = async () =>
    (
      await database.sql`select number, changed_xid::text from host_revisions where host_id = ${hostId}`
    )[0];
  const before = await revision();
  await record({ ...both, sharedStorage: true, software: makeSoftware({ os: 'a\0b' }) });
  const after = await revision();
  expect(after?.['number']).toBe(before?.['number']);
  expect(after?.['changed_xid']).not.toBe(before?.['changed_xid']);
  expect(
    await database.sql`select shared_storage, inventory -> 'software' ->> 'os' as os from hosts where id = ${hostId}`,
  ).toMatchObject([{ shared_storage: true, os: 'ab' }]);
});

it('a host whose guests can no longer run VMs is recorded as such and wakes placement', async () => {
  const read = async () =>
    (
      await database.sql`select h.lacks_nesting, r.changed_xid::text
        from hosts h join host_revisions r on r.host_id = h.id where h.id = ${hostId}`
    )[0];
  await record(both);
  const before = await read();
  expect(before).toMatchObject({ lacks_nesting: false });
  await record({ ...both, lacksNesting: true });
  const after = await read();
  expect(after).toMatchObject({ lacks_nesting: true });
  expect(after?.['changed_xid']).not.toBe(before?.['changed_xid']);
});

it('a change of what storage offers wakes placement, and a change of its free space does not', async () => {
  const storage = (offeredGib: number, freeGib: number) => ({
    storagePools: [
      {
        ...{ name: 'vg/thin', diskKinds: ['DISK_KIND_PERSISTENT_SSD' as const] },
        sizeBytes: String(2000 * 1024 ** 3),
        freeBytes: String(freeGib * 1024 ** 3),
        ...{ offeredBytes: String(offeredGib * 1024 ** 3), lacksSnapshots: '' },
      },
    ],
  });
  const read = async () =>
    (
      await database.sql`select storage_gib, changed_xid::text as xid,
        inventory #>> '{storagePools,0,freeBytes}' as free from hosts h join host_revisions r on r.host_id = h.id
        where h.id = ${hostId}`
    )[0];
  await record(storage(1900, 500));
  const first = await read();
  expect(first).toMatchObject({ storage_gib: 1900, free: String(500 * 1024 ** 3) });
  await record(storage(1900, 400));
  expect(await read()).toEqual({ ...first, free: String(400 * 1024 ** 3) });
  await record(storage(3900, 400));
  const last = await read();
  expect(last).toMatchObject({ storage_gib: 3900 });
  expect(last?.['xid']).not.toBe(first?.['xid']);
});

it('the underlay address is stored, and removed when the host reports none', async () => {
  const address = async () =>
    (await database.sql`select host(underlay_address) as is from hosts where id = ${hostId}`)[0];
  await record({ underlayIpv4: '192.0.2.7' });
  expect(await address()).toEqual({ is: '192.0.2.7' });
  await record({ underlayIpv4: '' });
  expect(await address()).toEqual({ is: null });
});
