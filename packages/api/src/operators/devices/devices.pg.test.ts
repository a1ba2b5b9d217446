import { newId } from '@gantry/model/ids';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { addHost, type TestHost } from '@gantry/testkit/make/hosts';
import { placeVm } from '@gantry/testkit/make/placements';
import { recordReceipt } from '@gantry/testkit/make/receipts';
import { makeTenant, makeUser, SSH_PUBLIC_KEY, type TestUser } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let api: TestApi;
let operator: TestUser;
let host: TestHost;
let gpuId: string;
let driveId: string;

beforeAll(async () => {
  api = await startTestApi();
  operator = await makeUser(api, 'operator@gantry.test', { operator: true });
  host = await addHost(api.sql, { name: 'host-1' });
  gpuId = host.gpuIds[0] ?? '';
  driveId = host.driveIds[0] ?? '';
});
afterAll(() => api.stop());

const call = (method: string, path: string, body?: unknown) =>
  api.call(method, `/admin/${path}`, { bearer: operator.token, body });
const quarantine = (id: string, body: unknown) => call('POST', `devices/${id}:quarantine`, body);
const release = (id: string) => call('POST', `devices/${id}:release`);
const shown = async () => (await call('GET', `hosts/${host.id}`)).body;

const problem = (rule: string, until_released: boolean) => ({
  rule,
  severity: 'block',
  message: 'it is broken',
  until_released,
  since: '2030-01-31T12:00:00.000Z',
});

describe('a device', () => {
  it('shows its readings, also the one that was valid when the wanted time began', async () => {
    const reading = (hours: number, measured: object) =>
      api.sql`insert into device_readings (device_id, hour, at, measured)
        select ${gpuId}, at, at, ${JSON.stringify(measured)}::text::jsonb
        from (select now() - ${hours}::int * interval '1 hour' as at) t`;
    for (const hours of [70, 50, 2]) await reading(hours, { correctable_errors: 100 - hours });
    const read = async (query: string) =>
      (await call('GET', `devices/${gpuId}/readings${query}`)).body.items as Record<
        string,
        number
      >[];
    const errors = async (query: string) =>
      (await read(query)).map(({ correctable_errors }) => correctable_errors);
    expect(await errors('')).toEqual([30, 50, 98]);
    expect(await errors('?hours=24')).toEqual([50, 98]);
    expect(await errors('?hours=1')).toEqual([98]);
    expect((await read('?hours=1'))[0]).toMatchObject({ link_width: -1, wear_percent: -1 });
    expect((await call('GET', `devices/${gpuId}/readings?hours=0`)).status).toBe(400);
    expect((await call('GET', `devices/${driveId}/readings`)).body).toEqual({ items: [] });
    expect((await call('GET', `devices/${newId()}/readings`)).status).toBe(404);
  });

  it.each([
    ['gpu', () => gpuId, '0000:10:00.0'],
    ['drive', () => driveId, '0000:80:00.0'],
  ] as const)(
    'can be quarantined with a reason and released: a %s',
    async (kind, id, pci_address) => {
      const device = {
        id: id(),
        kind,
        host_id: host.id,
        pci_address,
        state: 'ready',
        state_reason: '',
        problems: [],
      };
      const first = await quarantine(id(), { reason: 'Xid 79' });
      expect(first.status).toBe(200);
      expect(first.body).toEqual({ ...device, quarantine_reason: 'Xid 79' });
      const again = await quarantine(id(), { reason: 'fell off the bus' });
      expect(again.body).toEqual({ ...device, quarantine_reason: 'fell off the bus' });
      const devices = (await shown())[`${kind}s`];
      expect(devices.map((item: Record<string, string>) => item['quarantine_reason'])).toEqual([
        'fell off the bus',
        '',
      ]);
      for (const _twice of [1, 2]) {
        const released = await release(id());
        expect([released.status, released.body]).toEqual([
          200,
          { ...device, quarantine_reason: '' },
        ]);
      }
    },
  );

  it('that could not be cleaned stays quarantined until an operator releases it', async () => {
    await api.sql`update devices set state = 'quarantined', state_reason = 'no reset' where id = ${gpuId}`;
    const held = await quarantine(gpuId, { reason: 'look at it' });
    expect(held.body).toMatchObject({ state: 'quarantined', quarantine_reason: 'look at it' });
    expect((await shown()).gpus[0]).toMatchObject({ state_reason: 'no reset' });
    expect((await release(gpuId)).body).toMatchObject({
      state: 'ready',
      state_reason: '',
      quarantine_reason: '',
    });
  });

  it.each(['gpus', 'drives'])(
    'loses the problems that last until release, and no others: %s',
    async (list) => {
      const id = list === 'gpus' ? gpuId : driveId;
      const [lasting, visible] = [problem('aer_fatal', true), problem('link_narrow', false)];
      const set = (problems: object[]) =>
        api.sql`update devices set problems = ${api.sql.json(problems as never)} where id = ${id}`;
      await set([lasting, visible]);
      expect((await shown())[list][0].problems).toEqual([lasting, visible]);
      expect((await release(id)).body.problems).toEqual([visible]);
      expect((await release(id)).body.problems).toEqual([visible]);
      expect((await shown())[list][0].problems).toEqual([visible]);
      await set([]);
    },
  );

  it('has the state that its host reports after a release: missing or in use', async () => {
    const inventory = (gpus: object[]) =>
      api.sql`update hosts set inventory = ${api.sql.json({ devices: [...gpus, { address: '0000:80:00.0' }] } as never)}
        where id = ${host.id}`;
    const released = async (id: string) => (await release(id)).body.state;
    await api.sql`update devices set state = 'quarantined' where id = ${gpuId}`;
    await api.sql`update devices set state = 'quarantined', uses = '{swap}' where id = ${driveId}`;
    await inventory([]);
    expect(await released(gpuId)).toBe('missing');
    expect(await released(driveId)).toBe('used_by_host');
    expect((await shown()).drives[0].uses).toEqual(['swap']);
    await inventory([{ address: '0000:10:00.0' }]);
    await api.sql`update devices set state = 'quarantined' where id = ${gpuId}`;
    expect(await released(gpuId)).toBe('ready');
    await api.sql`update devices set state = 'ready', uses = '{}' where id = ${driveId}`;
    await api.sql`update hosts set inventory = null where id = ${host.id}`;
  });

  it('that is missing on its host is not ready after a release', async () => {
    await api.sql`update devices set state = 'missing' where id = ${gpuId}`;
    expect((await release(gpuId)).body).toMatchObject({ state: 'missing' });
    await api.sql`update devices set state = 'ready' where id = ${gpuId}`;
  });

  it('stays with the VM that has it', async () => {
    const acme = await makeTenant(api, 'acme');
    const { body } = await api.call('POST', `/projects/${acme.projectId}/vms`, {
      bearer: acme.accessKey,
      body: {
        name: 'running',
        type: 'a40.1x',
        location: 'eu-north-a',
        image: 'debian-12',
        ssh_public_key: SSH_PUBLIC_KEY,
      },
    });
    const vmId = body.operation.metadata.id;
    await placeVm(api.sql, { vmId, hostId: host.id, devices: [gpuId] });
    const vmRow = () => api.sql`select v::text from vms v where id = ${vmId}`;
    const before = await vmRow();
    expect((await quarantine(gpuId, { reason: 'later' })).status).toBe(200);
    expect((await shown()).gpus[0]).toMatchObject({ vm_id: vmId, quarantine_reason: 'later' });
    expect(await vmRow()).toEqual(before);
  });

  it.each([
    ['reason', {}],
    ['reason', { reason: '' }],
    ['reason', { reason: 'x'.repeat(256) }],
    ['reason', { reason: 'two\nlines' }],
    ['until', { reason: 'x', until: 'tomorrow' }],
  ])('cannot be quarantined without a valid reason: %s in %j', async (field, body) => {
    const reply = await quarantine(driveId, body);
    expect(reply.status).toBe(400);
    expect(reply.body.details).toMatchObject([{ field }]);
    expect((await shown()).drives[0].quarantine_reason).toBe('');
  });

  it('accepts the longest reason', async () => {
    const reason = 'x'.repeat(255);
    expect((await quarantine(driveId, { reason })).body.quarantine_reason).toBe(reason);
  });

  it('is not_found if it does not exist, and a host is not a device', async () => {
    for (const id of [newId(), host.id]) {
      expect((await quarantine(id, { reason: 'x' })).body.code).toBe('not_found');
      expect((await release(id)).body.code).toBe('not_found');
    }
    expect((await release('seven')).body.details).toMatchObject([{ field: 'device_id' }]);
  });
});

describe("a device's receipts", () => {
  const list = async (id: string, query = '') =>
    (await call('GET', `devices/${id}/receipts${query}`)).body;

  it('show operators everything, and outlive the device', async () => {
    const [deviceId, vmId, projectId] = [newId(), newId(), newId()];
    const failure = { code: 'reset_failed', message: '0000:10:00.0 does not answer' };
    const properties = [{ name: 'data', state: 'verified' as const, detail: 'of 0000:10:00.0' }];
    const of = { deviceId, vmId, projectId, hostId: host.id };
    const id = await recordReceipt(api.sql, { ...of, kind: 'drive', failure, properties });
    expect(await list(deviceId)).toEqual({
      items: [
        {
          id,
          device_id: deviceId,
          kind: 'drive',
          host_id: host.id,
          vm_id: vmId,
          project_id: projectId,
          pci_address: '0000:10:00.0',
          serial: 'S1',
          method: 'sanitize',
          finished_at: '2030-01-31T12:00:00.500Z',
          failure_code: 'reset_failed',
          failure_message: '0000:10:00.0 does not answer',
          properties,
        },
      ],
      next_page_token: '',
    });
  });

  it('are only those of the device, newest first, in pages', async () => {
    const ids: string[] = [];
    for (const _receipt of [1, 2, 3]) {
      ids.unshift(await recordReceipt(api.sql, { deviceId: gpuId, projectId: newId() }));
      await recordReceipt(api.sql, { deviceId: driveId, projectId: newId() });
    }
    const first = await list(gpuId, '?limit=2');
    const second = await list(gpuId, `?limit=2&page_token=${first.next_page_token}`);
    expect(second.next_page_token).toBe('');
    const listed = [...first.items, ...second.items].map(({ id }: { id: string }) => id);
    expect(listed).toEqual(ids);
    expect(await list(newId())).toEqual({ items: [], next_page_token: '' });
  });
});
