import { createLog } from '@gantry/daemon/log';
import { openStream } from '@gantry/db/queries/hosts/host-liveness';
import { newId } from '@gantry/model/ids';
import type { Inventory__Output } from '@gantry/proto/generated/gantry/v1/Inventory';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { placeVm } from '@gantry/testkit/make/placements';
import { addProject } from '@gantry/testkit/make/tenants';
import { addVms } from '@gantry/testkit/make/vms';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { HEALTH_RULES } from '../health/health-rules.ts';
import { recordInventory } from './record-inventory.ts';
import { makeDrive, makeGpu, makeInventory } from './testing/make-inventory.ts';

let database: TestDatabase;
let projectId: string;
let hostId: string;
let streamEpoch: string;
beforeAll(async () => {
  database = await createTestDatabase();
  projectId = await addProject(database.sql);
});
afterAll(() => database.drop());
beforeEach(async () => {
  hostId = newId();
  await database.sql`insert into hosts (id, location, name) values (${hostId}, 'eu-north-a', ${hostId})`;
  streamEpoch = (await openStream(database.sql, { hostId, schedulerId: newId() })) ?? '';
});

const log = createLog({ process: 'test', level: 'silent' });
const record = (change: Partial<Inventory__Output>) =>
  recordInventory({
    sql: database.sql,
    log,
    rules: HEALTH_RULES,
    hostId,
    streamEpoch,
    inventory: makeInventory(change),
  });
const GPU = '0000:10:00.0';
const DRIVE = '0000:80:00.0';
const aer = { correctable: '0', nonfatal: '0', fatal: '0' };
const link = { speedGts: 16, maxSpeedGts: 16, width: 16, maxWidth: 16 };
const sound = { devices: [makeGpu(GPU, { aer, link })] };
const fatal = { devices: [makeGpu(GPU, { aer: { ...aer, fatal: '1' }, link })] };
const slow = { devices: [makeGpu(GPU, { aer, link: { ...link, speedGts: 2.5 } })] };
const narrow = { devices: [makeGpu(GPU, { aer, link: { ...link, width: 8 } })] };

const gpu = async () =>
  (
    await database.sql`select id, blocked, problems from devices where kind = 'gpu' and host_id = ${hostId}`
  )[0];
/** Creates a VM that has claimed every device of the host. */
const addOwner = async () => {
  const [vmId = ''] = await addVms(database.sql, 1, { projectId });
  await placeVm(database.sql, { vmId, hostId, devices: 'all' });
  return vmId;
};
const eventsOf = (vmId: string) =>
  database.sql`select type, project_id, message from events where resource_id = ${vmId} order by id`;
const vmRow = (vmId: string) => database.sql`select v::text from vms v where id = ${vmId}`;

describe('a device', () => {
  it('has one reading for each hour in which it changed, with its last values', async () => {
    const { sql } = database;
    const readings = async () =>
      (
        await sql`select r.measured from device_readings r join devices d on d.id = r.device_id
          where d.host_id = ${hostId} order by r.hour`
      ).map((row) => row['measured']);
    const failing = (correctable: string) => ({
      devices: [makeGpu(GPU, { aer: { ...aer, correctable }, link })],
    });
    await record(sound);
    await sql`update device_readings set hour = hour - interval '1 hour'`;
    await record(failing('1'));
    await record(failing('2'));
    const last = { correctable_errors: 2, nonfatal_errors: 0, fatal_errors: 0 };
    const path = { link_speed_gts: 16, link_width: 16 };
    expect(await readings()).toEqual([
      { ...last, ...path, correctable_errors: 0 },
      { ...last, ...path },
    ]);
  });

  it('takes no new VM while it has a problem', async () => {
    await record(sound);
    expect(await gpu()).toMatchObject({ blocked: false, problems: [] });
    await record(narrow);
    expect(await gpu()).toMatchObject({ blocked: true, problems: [{ rule: 'link_narrow' }] });
    await record(sound);
    expect(await gpu()).toMatchObject({ blocked: false, problems: [] });
  });

  it('with only a warning takes new VMs', async () => {
    await record(slow);
    expect(await gpu()).toMatchObject({
      blocked: false,
      problems: [{ rule: 'link_slow', severity: 'warn' }],
    });
  });

  it('with a link error stays blocked after reconnects and after an absence', async () => {
    await record(sound);
    await record(fatal);
    await record({ devices: [] });
    await record(fatal);
    await record(sound);
    expect(await gpu()).toMatchObject({
      blocked: true,
      problems: [{ rule: 'aer_fatal', until_released: true }],
    });
  });

  it('wakes placement when its health changes', async () => {
    const changed = async () =>
      (
        await database.sql`select changed_xid::text from host_revisions where host_id = ${hostId}`
      )[0];
    await record(sound);
    const before = await changed();
    await record(narrow);
    expect(await changed()).not.toEqual(before);
  });
});

describe('the owner of a VM', () => {
  it('gets one event for each problem of a device, and the VM does not change', async () => {
    const smart = {
      critical_warning: 0,
      percentage_used: 0,
      available_spare: 100,
      spare_threshold: 10,
      media_errors: 0,
    };
    const withDrive = ({ devices }: typeof sound, critical_warning: number) => ({
      devices: [...devices, makeDrive(DRIVE, { health: { ...smart, critical_warning } })],
    });
    await record(withDrive(sound, 0));
    const vmId = await addOwner();
    const before = await vmRow(vmId);
    await record(withDrive(fatal, 0));
    await record(withDrive(slow, 0));
    await record(withDrive(fatal, 8));
    await record(withDrive(fatal, 9));
    expect(await eventsOf(vmId)).toMatchObject([
      {
        type: 'vm_device_unhealthy',
        project_id: projectId,
        message: expect.stringContaining(
          `the GPU at ${GPU} is not healthy: 1 new fatal PCIe error`,
        ),
      },
      { message: expect.stringContaining(`the drive at ${DRIVE} is not healthy`) },
    ]);
    expect(await vmRow(vmId)).toEqual(before);
  });

  it('gets no event for a problem from before the claim', async () => {
    await record(sound);
    await record(narrow);
    const vmId = await addOwner();
    await record(fatal);
    expect((await eventsOf(vmId)).map(({ message }) => message)).toEqual([
      expect.stringContaining('fatal PCIe error'),
    ]);
  });
});

describe('a claimed drive', () => {
  it('that its host begins to use stays with the VM and takes no other VM', async () => {
    await record({ devices: [makeDrive(DRIVE)] });
    const vmId = await addOwner();
    await record({ devices: [makeDrive(DRIVE, { uses: ['mounted at /data'] })] });
    expect(
      await database.sql`select d.state, c.vm_id from devices d join device_claims c on c.device_id = d.id
        where d.host_id = ${hostId}`,
    ).toMatchObject([{ state: 'used_by_host', vm_id: vmId }]);
  });
});
