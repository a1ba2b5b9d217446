import { closeInterval, openInterval } from '@gantry/db/queries/usage/meter';
import { closeDay } from '@gantry/db/queries/usage/usage';
import { newId } from '@gantry/model/ids';
import {
  failOperation,
  finishDisk,
  finishRule,
  finishVm,
  finishVmDeletion,
} from '@gantry/testkit/make/finished';
import { diskBody, LOCATION, newName, ruleBody, vmBody } from '@gantry/testkit/make/request-bodies';
import { makeTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  attachDisk,
  clientOf,
  defaultNetworkOf,
  expectFieldRefused,
  expectRefusal,
  type Fields,
  IPV4,
  makeDisk,
  makeRule,
  makeVm,
  membersOf,
  NOBODY,
  OTHER_LOCATION,
  operationOf,
  startWorld,
  TIMESTAMP,
  UUID,
  type World,
} from './support.ts';

let world: World;
let P: string;
let O: string;

beforeAll(async () => {
  world = await startWorld({ trustedProxies: 1 });
  ({ P, O } = world);
});
afterAll(() => world.api.stop());

const read = async (path: string) => (await world.get(path)).body;
const namesOf = (items: Fields[]) => items.map(({ name }) => name);

describe('docs/contract: endpoints and their replies', () => {
  it('the root shows who the caller is and what is there', async () => {
    const byKey = await read('');
    const byToken = (await world.owner.get('')).body;
    for (const body of [byKey, byToken]) {
      expect(membersOf(body)).toEqual(['links', 'name', 'project_id', 'user', 'version']);
      expect(body).toMatchObject({ name: expect.stringMatching(/./), version: 'v0.1' });
      for (const link of Object.values<string>(body.links)) {
        if (!link.startsWith('/v0.1')) continue;
        expect((await world.get(link.slice('/v0.1'.length))).status).toBe(200);
      }
    }
    expect(byKey.project_id).toBe(world.tenant.projectId);
    expect(byToken.project_id).toBe('');
    expect(byToken.user).toMatchObject({
      id: world.tenant.owner.id,
      email: world.tenant.owner.email,
    });
    expect(JSON.stringify(byKey.user)).not.toContain('@');
  });

  it('locations have the names that location means everywhere else', async () => {
    const body = await read('/locations');
    expect(membersOf(body)).toEqual(['items']);
    for (const location of body.items) {
      expect(membersOf(location)).toEqual(['description', 'name', 'region', 'zone']);
      for (const value of Object.values(location)) expect(value).toBeTypeOf('string');
    }
    expect(namesOf(body.items)).toEqual([LOCATION, OTHER_LOCATION]);
    for (const location of namesOf(body.items)) {
      const vm = await read(`${P}/vms/${await makeVm(world, { location })}`);
      expect(vm.location).toBe(location);
    }
  });

  it('VMs are listed in pages and filtered by comma lists', async () => {
    const project = { name: newName(), organization_id: world.tenant.organizationId };
    const { id: projectId } = (await world.owner.post('/projects', project)).body;
    const vms = `/projects/${projectId}/vms`;
    const create = async (changes: Fields) =>
      operationOf(await world.owner.post(vms, vmBody(changes))).metadata.id;
    const list = async (query: string) => (await world.owner.get(`${vms}${query}`)).body;
    const names = async (query: string) => namesOf((await list(query)).items);

    const first = await create({ name: 'first' });
    const second = await create({ name: 'second', type: 'a100.1x' });
    await create({ name: 'third', location: OTHER_LOCATION });
    await finishVm(world.api.sql, second, 'running');
    expect(membersOf(await list(''))).toEqual(['items', 'next_page_token']);
    expect((await list('')).items[0]).toEqual((await world.owner.get(`${vms}/${first}`)).body);
    expect(await names('')).toEqual(['first', 'second', 'third']);
    expect(await names(`?ids=${first},${second}`)).toEqual(['first', 'second']);
    expect(await names('?names=third,first,none')).toEqual(['first', 'third']);
    expect(await names('?types=a100.1x,a40.2x')).toEqual(['second']);
    expect(await names(`?locations=${OTHER_LOCATION}`)).toEqual(['third']);
    expect(await names('?states=STATE_RUNNING')).toEqual(['second']);
    expect(await names('?states=STATE_RUNNING,STATE_CREATING&types=a40.1x')).toEqual([
      ...['first', 'third'],
    ]);

    const page = await list('?limit=2');
    expect(namesOf(page.items)).toEqual(['first', 'second']);
    const rest = await list(`?limit=2&page_token=${page.next_page_token}`);
    expect([namesOf(rest.items), rest.next_page_token]).toEqual([['third'], '']);
    for (const limit of ['0', '1001', '-1', '1.5', 'all']) {
      expectFieldRefused(await world.owner.get(`${vms}?limit=${limit}`), 'limit');
    }
    await world.api.sql`
      insert into vms (id, project_id, name, type, location, image_id, ssh_public_key)
      select gen_random_uuid(), project_id, 'copy-' || n, type, location, image_id, ssh_public_key
      from vms, generate_series(1, 98) n where id = ${first}`;
    expect((await list('')).items).toHaveLength(100);
    expect((await list('?limit=1000')).items).toHaveLength(101);
    expect((await list('?limit=1')).items).toHaveLength(1);
  });

  it('a VM can be deleted in every state; its OS disk goes, its data disks stay', async () => {
    const { sql } = world.api;
    const acting = async (from: 'running' | 'stopped', action: string) => {
      const vmId = await makeVm(world, {}, from);
      operationOf(await world.patch(`${P}/vms/${vmId}`, { action }));
      return vmId;
    };
    const unreachable = await makeVm(world);
    await sql`update vms set reachable = false where id = ${unreachable}`;
    const halfDeleted = await makeVm(world);
    operationOf(await world.delete(`${P}/vms/${halfDeleted}`));
    await failOperation(sql, halfDeleted);
    const states: Record<string, string> = {
      STATE_CREATING: operationOf(await world.post(`${P}/vms`, vmBody())).metadata.id,
      STATE_RUNNING: await makeVm(world),
      STATE_STOPPING: await acting('running', 'STOP'),
      STATE_SHUTOFF: await makeVm(world, {}, 'stopped'),
      STATE_STARTING: await acting('stopped', 'START'),
      STATE_RESETTING: await acting('running', 'RESET'),
      STATE_CRASHED: await makeVm(world, {}, 'crashed'),
      STATE_UNREACHABLE: unreachable,
      STATE_ERROR: await makeVm(world, {}, 'failed'),
      STATE_DELETING: halfDeleted,
    };
    for (const [state, vmId] of Object.entries(states)) {
      expect((await read(`${P}/vms/${vmId}`)).state).toBe(state);
      const { metadata } = operationOf(await world.delete(`${P}/vms/${vmId}`));
      expect(metadata).toMatchObject({ operation_name: 'DELETE', id: vmId });
    }
    const [vmId, diskId] = [await makeVm(world), await makeDisk(world)];
    await attachDisk(world, { vmId, diskId });
    const osDisk = (await read(`${P}/vms/${vmId}`)).disks[0].id;
    operationOf(await world.delete(`${P}/vms/${vmId}`));
    await finishVmDeletion(sql, vmId);
    expectRefusal(await world.get(`${P}/vms/${vmId}`), 404, 'not_found');
    expectRefusal(await world.get(`${P}/disks/${osDisk}`), 404, 'not_found');
    expect(await read(`${P}/disks/${diskId}`)).toMatchObject({ vm_ids: [], attachment_type: '' });
    operationOf(await world.delete(`${P}/disks/${diskId}`));
  });

  it('a VM can be started, stopped, reset and updated; a new type needs a stopped VM', async () => {
    const { sql } = world.api;
    const vmId = await makeVm(world);
    const patch = (body: Fields) => world.patch(`${P}/vms/${vmId}`, body);
    for (const [action, becomes] of [
      ['RESET', 'running'],
      ['STOP', 'stopped'],
      ['START', 'running'],
    ] as const) {
      const { metadata } = operationOf(await patch({ action }));
      expect(metadata).toMatchObject({ operation_name: action, request: { action } });
      await finishVm(sql, vmId, becomes);
    }
    operationOf(await patch({ action: 'UPDATE', name: 'renamed' }));
    expect(await read(`${P}/vms/${vmId}`)).toMatchObject({ name: 'renamed' });
    const change = { action: 'UPDATE', type: 'a40.2x' };
    expectRefusal(await patch(change), 409, 'conflict');
    operationOf(await patch({ action: 'STOP' }));
    await finishVm(sql, vmId, 'stopped');
    operationOf(await patch(change));
    expect(await read(`${P}/vms/${vmId}`)).toMatchObject({
      type: 'a40.2x',
      state: 'STATE_SHUTOFF',
    });
    expectRefusal(await patch({ ...change, type: 'a40.3x' }), 422, 'unknown_type');
    for (const action of ['PAUSE', 'start', 7, undefined]) {
      expectFieldRefused(await patch({ action }), 'action');
    }
    expectRefusal(await world.patch(`${P}/vms/${NOBODY}`, change), 404, 'not_found');
  });

  it('disks can be attached to a running or stopped VM', async () => {
    const attach = (vmId: string, disk_id: string, changes: Fields = {}) =>
      world.post(`${P}/vms/${vmId}/attach-disks`, {
        attach_disks: [{ disk_id, mode: 'read-only', attachment_type: 'data', ...changes }],
      });
    for (const state of ['running', 'stopped'] as const) {
      const [vmId, diskId] = [await makeVm(world, {}, state), await makeDisk(world)];
      const { metadata } = operationOf(await attach(vmId, diskId));
      expect(metadata).toMatchObject({ operation_name: 'ATTACH_DISKS', id: vmId, type: 'vm' });
      await finishVm(world.api.sql, vmId, state);
      expect((await read(`${P}/vms/${vmId}`)).disks[1]).toMatchObject({
        ...{ id: diskId, mode: 'read-only', attachment_type: 'data' },
      });
    }
    const diskId = await makeDisk(world);
    for (const state of ['crashed', 'failed'] as const) {
      const vmId = await makeVm(world, {}, state);
      expectRefusal(await attach(vmId, diskId), 409, 'conflict');
    }
    const vmId = await makeVm(world);
    for (const changes of [{ disk_id: 7 }, { mode: 'append' }, { attachment_type: 'os' }]) {
      expectFieldRefused(await attach(vmId, diskId, changes), 'attach_disks');
    }
    expectRefusal(await attach(vmId, NOBODY), 404, 'not_found');
    const path = `${P}/vms/${vmId}/attach-disks`;
    expectFieldRefused(await world.post(path, {}), 'attach_disks');
  });

  it('disks can be detached from a VM', async () => {
    const [vmId, diskId] = [await makeVm(world), await makeDisk(world)];
    await attachDisk(world, { vmId, diskId });
    const detach = (detach_disks: unknown) =>
      world.post(`${P}/vms/${vmId}/detach-disks`, { detach_disks });
    const { metadata } = operationOf(await detach([diskId]));
    expect(metadata).toMatchObject({ operation_name: 'DETACH_DISKS', id: vmId, type: 'vm' });
    await finishVm(world.api.sql, vmId, 'running');
    expect((await read(`${P}/vms/${vmId}`)).disks).toHaveLength(1);
    expect(await read(`${P}/disks/${diskId}`)).toMatchObject({ id: diskId, vm_ids: [] });
    expectRefusal(await detach([diskId]), 409, 'conflict');
    for (const wrong of [undefined, 'all', [7], []]) {
      expectFieldRefused(await detach(wrong), 'detach_disks');
    }
  });

  it('operations are listed in pages and filtered by resource_id and state', async () => {
    const { sql } = world.api;
    const networkId = await defaultNetworkOf(world);
    for (const { path, body, finish } of [
      { path: 'vms', body: vmBody, finish: (id: string) => finishVm(sql, id, 'running') },
      { path: 'disks', body: diskBody, finish: (id: string) => finishDisk(sql, id) },
      {
        ...{ path: 'vpc/firewall-rules', body: () => ruleBody(networkId) },
        finish: (id: string) => finishRule(sql, id),
      },
    ]) {
      const create = async () => operationOf(await world.post(`${P}/${path}`, body()));
      const [done, open] = [await create(), await create()];
      await finish(done.metadata.id);
      const list = (query: string) => read(`${P}/${path}/operations${query}`);
      const idsOf = async (query: string) =>
        (await list(query)).items.map(({ operation_id }: Fields) => operation_id);

      expect(membersOf(await list(''))).toEqual(['items', 'next_page_token']);
      expect((await list('')).items).toContainEqual(open);
      expect(await idsOf(`?resource_id=${open.metadata.id}`)).toEqual([open.operation_id]);
      expect(await idsOf('?state=IN_PROGRESS')).toContain(open.operation_id);
      expect(await idsOf('?state=IN_PROGRESS')).not.toContain(done.operation_id);
      expect(await idsOf('?state=SUCCEEDED')).toContain(done.operation_id);
      expect(await idsOf('?state=SUCCEEDED')).not.toContain(open.operation_id);
      const page = await list('?limit=1');
      expect(page.items).toHaveLength(1);
      const [next] = (await list(`?limit=1&page_token=${page.next_page_token}`)).items;
      expect(next.operation_id).not.toBe(page.items[0].operation_id);
      expectFieldRefused(await world.get(`${P}/${path}/operations?state=DONE`), 'state');
    }
    const kinds = async (path: string) =>
      new Set(
        (await read(`${P}/${path}/operations`)).items.map(
          (op: { metadata: Fields }) => op.metadata['type'],
        ),
      );
    expect(await kinds('vms')).toEqual(new Set(['vm']));
    expect(await kinds('disks')).toEqual(new Set(['disk']));
    expect(await kinds('vpc/firewall-rules')).toEqual(new Set(['vpc-firewall-rule']));
  });

  it('a disk operation is read unwrapped', async () => {
    const opened = operationOf(await world.post(`${P}/disks`, diskBody()));
    const reply = await world.get(`${P}/disks/operations/${opened.operation_id}`);
    expect(reply).toMatchObject({ status: 200, body: opened });
    expectRefusal(await world.get(`${P}/vms/operations/${opened.operation_id}`), 404, 'not_found');
  });

  it('a firewall rule operation is read unwrapped', async () => {
    const body = ruleBody(await defaultNetworkOf(world));
    const opened = operationOf(await world.post(`${P}/vpc/firewall-rules`, body));
    const path = `operations/${opened.operation_id}`;
    const reply = await world.get(`${P}/vpc/firewall-rules/${path}`);
    expect(reply).toMatchObject({ status: 200, body: opened });
    expectRefusal(await world.get(`${P}/disks/${path}`), 404, 'not_found');
  });

  it('disks are listed as items and read by id', async () => {
    const diskId = await makeDisk(world, { name: 'listed', size: '3GiB' });
    const disk = await read(`${P}/disks/${diskId}`);
    expect(disk).toMatchObject({
      ...{ id: diskId, name: 'listed', type: 'persistent-ssd', size: '3GiB', location: LOCATION },
      ...{ block_size: 512, serial_number: expect.stringMatching(/./) },
      created_at: expect.stringMatching(TIMESTAMP),
      updated_at: expect.stringMatching(TIMESTAMP),
    });
    const list = await read(`${P}/disks`);
    expect(membersOf(list)).toEqual(['items', 'next_page_token']);
    expect(list.items).toContainEqual(disk);
    expectRefusal(await world.get(`${P}/disks/${NOBODY}`), 404, 'not_found');
  });

  it('a disk only grows', async () => {
    const diskId = await makeDisk(world, { size: '10GiB' });
    const grow = (size: unknown) => world.patch(`${P}/disks/${diskId}`, { size });
    for (const size of ['9GiB', '10GiB', '10GB', undefined])
      expectFieldRefused(await grow(size), 'size');
    expect(operationOf(await grow('1TiB')).metadata).toMatchObject({
      ...{ operation_name: 'UPDATE', id: diskId, request: { size: '1TiB' } },
    });
    await finishDisk(world.api.sql, diskId);
    expect((await read(`${P}/disks/${diskId}`)).size).toBe('1TiB');
    expectFieldRefused(await grow('500GiB'), 'size');
  });

  it('a disk is not deleted while it is attached', async () => {
    const [vmId, diskId] = [await makeVm(world), await makeDisk(world)];
    await attachDisk(world, { vmId, diskId });
    expectRefusal(await world.delete(`${P}/disks/${diskId}`), 409, 'disk_attached');
    const osDisk = (await read(`${P}/vms/${vmId}`)).disks[0].id;
    expectRefusal(await world.delete(`${P}/disks/${osDisk}`), 409, 'disk_attached');
    operationOf(await world.post(`${P}/vms/${vmId}/detach-disks`, { detach_disks: [diskId] }));
    await finishVm(world.api.sql, vmId, 'running');
    const { metadata } = operationOf(await world.delete(`${P}/disks/${diskId}`));
    expect(metadata).toMatchObject({ operation_name: 'DELETE', type: 'disk', id: diskId });
    await finishDisk(world.api.sql, diskId);
    expectRefusal(await world.get(`${P}/disks/${diskId}`), 404, 'not_found');
  });

  it('a firewall rule can be read, changed and deleted', async () => {
    const { sql } = world.api;
    const ruleId = await makeRule(world, { name: 'before' });
    const path = `${P}/vpc/firewall-rules/${ruleId}`;
    const before = await read(path);
    expect(before).toMatchObject({ id: ruleId, name: 'before', state: 'active' });
    const endpoint = { resource_id: '', cidr: '198.51.100.0/24' };
    for (const change of [
      ...[{ name: 'after' }, { protocols: ['udp'] }, { source_ports: ['53'] }],
      ...[{ sources: [endpoint] }, { destinations: [endpoint] }, { destination_ports: ['*'] }],
    ] as Fields[]) {
      const { metadata } = operationOf(await world.patch(path, change));
      expect(metadata).toMatchObject({ operation_name: 'UPDATE', id: ruleId, request: change });
      await finishRule(sql, ruleId);
      expect(await read(path)).toMatchObject({ ...change, state: 'active' });
    }
    for (const field of ['direction', 'action', 'vpc_network_id']) {
      expectFieldRefused(await world.patch(path, { [field]: before[field] }), field);
    }
    const { metadata } = operationOf(await world.delete(path));
    expect(metadata).toMatchObject({ operation_name: 'DELETE', id: ruleId });
    await finishRule(sql, ruleId);
    expectRefusal(await world.get(path), 404, 'not_found');
  });

  it('networks can be listed, read, created and deleted', async () => {
    const networks = `${P}/vpc/networks`;
    const create = (body: Fields) => world.post(networks, body);
    const body = { name: newName(), cidr: '10.30.0.0/16' };
    const { status, body: created } = await create(body);
    expect(status).toBe(200);
    const network = await read(`${networks}/${created.id}`);
    expect(membersOf(network)).toEqual(['cidr', 'gateway', 'id', 'name', 'subnets', 'tags']);
    expect(network).toMatchObject({
      ...body,
      gateway: expect.stringMatching(/^10\.30\.0\.\d+$/),
      subnets: [],
    });
    const list = await read(networks);
    expect(membersOf(list)).toEqual(['items', 'next_page_token']);
    expect(list.items).toContainEqual(network);
    const standard = list.items.find(({ name }: Fields) => name === 'default-vpc-network');
    expect(standard.gateway).toMatch(IPV4);
    for (const id of standard.subnets) expect(id).toMatch(UUID);
    for (const field of ['name', 'cidr']) {
      expectFieldRefused(await create({ ...body, [field]: undefined }), field);
    }
    expect((await world.delete(`${networks}/${created.id}`)).status).toBe(200);
    expectRefusal(await world.get(`${networks}/${created.id}`), 404, 'not_found');
  });

  it('subnets can be listed, read, created and deleted', async () => {
    const subnets = `${P}/vpc/subnets`;
    const network = (
      await world.post(`${P}/vpc/networks`, { name: newName(), cidr: '10.40.0.0/16' })
    ).body;
    const body = {
      ...{ name: newName(), cidr: '10.40.16.0/20', location: LOCATION, vpc_network_id: network.id },
    };
    const { status, body: created } = await world.post(subnets, body);
    expect(status).toBe(200);
    const subnet = await read(`${subnets}/${created.id}`);
    expect(subnet).toEqual({ id: expect.stringMatching(UUID), ...body, tags: {} });
    const list = await read(subnets);
    expect(membersOf(list)).toEqual(['items', 'next_page_token']);
    expect(list.items).toContainEqual(subnet);
    expect((await read(`${P}/vpc/networks/${network.id}`)).subnets).toEqual([created.id]);
    expect((await world.delete(`${subnets}/${created.id}`)).status).toBe(200);
    expectRefusal(await world.get(`${subnets}/${created.id}`), 404, 'not_found');
  });

  it('quotas have type, max, used and available', async () => {
    const quotas = async (): Promise<Fields[]> => {
      const body = await read(`${P}/quotas`);
      expect(membersOf(body)).toEqual(['quotas']);
      return body.quotas;
    };
    const gpus = async () => (await quotas()).find(({ type }) => type === 'gpus');
    for (const quota of await quotas()) {
      expect(membersOf(quota)).toEqual(['available', 'max', 'type', 'used']);
      expect(quota['available']).toBe(Number(quota['max']) - Number(quota['used']));
    }
    const before = await gpus();
    operationOf(await world.post(`${P}/vms`, vmBody({ type: 'a40.4x' })));
    expect((await gpus())?.['used']).toBe(Number(before?.['used']) + 4);
  });

  it('access keys are listed without secrets, and a new one shows its secret once', async () => {
    const keys = `${P}/access-keys`;
    const expires_at = new Date(Date.now() + 86_400_000).toISOString();
    const { status, body: key } = await world.post(keys, { name: newName(), expires_at });
    expect(status).toBe(200);
    expect(key).toMatchObject({
      ...{ id: expect.stringMatching(UUID), name: expect.any(String), expires_at },
      ...{ access_key: expect.any(String), created_at: expect.stringMatching(TIMESTAMP) },
    });
    const { get } = clientOf(world.api, key.access_key);
    expect((await get(`${P}/vms`)).status).toBe(200);
    const list = await read(keys);
    const { access_key, ...shown } = key;
    expect(list.items).toContainEqual(shown);
    expect(JSON.stringify(list)).not.toContain(access_key);
    expect((await world.post(keys, { name: newName() })).body.expires_at).toBe('');
    expect((await world.delete(`${keys}/${key.id}`)).status).toBe(200);
    expectRefusal(await get(`${P}/vms`), 401, 'bad_credential');
    expectRefusal(await world.delete(`${keys}/${key.id}`), 404, 'not_found');
  });

  it('usage lists closed days and takes filters', async () => {
    const { sql } = world.api;
    const { organizationId } = world.tenant;
    const project = { name: newName(), organization_id: organizationId };
    const { id: other } = (await world.owner.post('/projects', project)).body;
    const use = async (projectId: string, vmType: string, region: string, day: string) => {
      const resourceId = newId();
      const [startedAt, endedAt] = ['10:00', '11:00'].map((time) => new Date(`${day}T${time}:00Z`));
      await openInterval(sql, {
        ...{ organizationId, projectId, resourceId, region, startedAt: startedAt ?? new Date() },
        metered: { metric: 'vm_seconds', vmType },
      });
      await closeInterval(sql, { resourceId, endedAt: endedAt ?? new Date() });
    };
    await use(world.tenant.projectId, 'a40.1x', 'eu-north', '2026-05-01');
    await use(other, 'a40.1x', 'us-east', '2026-05-01');
    await use(other, 'a40.2x', 'eu-north', '2026-05-02');
    await use(other, 'a40.4x', 'eu-north', '2026-05-03');
    for (const day of ['2026-05-01', '2026-05-02']) await closeDay(sql, day);
    const list = async (query: string): Promise<Fields[]> => {
      const { body } = await world.owner.get(
        `${O}/usage?start_date=2026-05-01&end_date=2026-05-04${query}`,
      );
      expect(membersOf(body)).toEqual(['items']);
      return body.items;
    };
    const types = async (query: string) =>
      (await list(query)).map((item) => `${item['resource_type']} ${item['region']}`).toSorted();
    const [first] = await list(`&projects=${world.tenant.projectId}`);
    expect(first).toMatchObject({
      ...{ date: '2026-05-01', project_id: world.tenant.projectId, resource_type: 'a40.1x' },
      ...{ billable_metric: 'vm_seconds', quantity: 3600, region: 'eu-north', cost_usd: 0 },
    });
    const all = ['a40.1x eu-north', 'a40.1x us-east', 'a40.2x eu-north'];
    // The third day is not closed.
    expect(await types('')).toEqual(all);
    expect(await types(`&projects=${other}`)).toEqual(all.slice(1));
    expect(await types(`&projects=${other},${world.tenant.projectId}`)).toEqual(all);
    expect(await types('&resource_types=a40.2x,a40.4x')).toEqual(all.slice(2));
    expect(await types('&regions=us-east')).toEqual([all[1]]);
    const { items } = (
      await world.owner.get(`${O}/usage?start_date=2026-05-02&end_date=2026-05-02`)
    ).body;
    expect(items.map(({ date }: Fields) => date)).toEqual(['2026-05-02']);
    for (const field of ['start_date', 'end_date']) {
      expectFieldRefused(await world.owner.get(`${O}/usage?${field}=yesterday`), field);
    }
    await closeDay(sql, '2026-05-03');
    expect(await types('')).toEqual([...all, 'a40.4x eu-north']);
  });

  it('the audit log has who did what to what, from where, with which result', async () => {
    const from = { 'x-forwarded-for': '203.0.113.77' };
    const created = operationOf(await world.post(`${P}/vms`, vmBody(), from));
    const refused = await world.post(`${P}/vms`, vmBody({ type: 'a40.3x' }), from);
    const lines = async (): Promise<Fields[]> => {
      const { body } = await world.owner.get(`${O}/audit-logs?limit=1000`);
      expect(membersOf(body)).toEqual(['items', 'next_page_token']);
      return body.items;
    };
    const keys = (await read(`${P}/access-keys`)).items;
    expect(
      (await lines()).find((line) => line['resource_id'] === created.metadata.id),
    ).toMatchObject({
      ...{ action: 'vms.create', resource_type: 'vms', project_id: world.tenant.projectId },
      ...{ actor_type: 'access_key', source_ip: '203.0.113.77', status: 200 },
      at: expect.stringMatching(TIMESTAMP),
    });
    // Refusals are written a moment later.
    const line = await vi.waitFor(async () => {
      const found = (await lines()).find(({ request_id }) => request_id === refused.body.error_id);
      expect(found).toBeDefined();
      return found;
    }, 30_000);
    expect(line).toMatchObject({ action: 'vms.create', source_ip: '203.0.113.77', status: 422 });
    expect(keys.map(({ id }: Fields) => id)).toContain(line?.['actor_id']);
    const page = (await world.owner.get(`${O}/audit-logs?limit=1`)).body;
    const next = `${O}/audit-logs?limit=1&page_token=${page.next_page_token}`;
    expect((await world.owner.get(next)).body.items[0].id).not.toBe(page.items[0].id);
    const stranger = clientOf(world.api, (await makeTenant(world.api, 'stranger')).owner.token);
    expectRefusal(await stranger.get(`${O}/audit-logs`), 404, 'not_found');
  });

  it('organizations and projects are changed by owners and operators only', async () => {
    const { tenant, api } = world;
    const organizationId = tenant.organizationId;
    for (const bearer of [tenant.accessKey, tenant.member.token, tenant.readOnly.token]) {
      const client = clientOf(api, bearer);
      const project = { name: newName(), organization_id: organizationId };
      for (const reply of [
        ...[
          await client.post('/organizations', { name: newName() }),
          await client.patch(O, { name: 'x' }),
        ],
        ...[await client.delete(O), await client.post('/projects', project)],
        ...[await client.patch(P, { name: newName() }), await client.delete(P)],
      ]) {
        expectRefusal(reply, 403, 'forbidden');
      }
    }
    for (const client of [world.owner, world.operator]) {
      const organization = (await client.post('/organizations', { name: newName() })).body;
      const [path, name] = [`/organizations/${organization.id}`, newName()];
      expect((await client.patch(path, { name })).body).toEqual({ ...organization, name });
      const body = { name: newName(), organization_id: organization.id };
      const project = (await client.post('/projects', body)).body;
      expect(project).toMatchObject(body);
      const renamed = await client.patch(`/projects/${project.id}`, { name });
      expect(renamed.body).toEqual({ ...project, name });
      expectRefusal(await client.delete(path), 409, 'conflict');
      expect((await client.delete(`/projects/${project.id}`)).status).toBe(200);
      expect((await client.delete(path)).status).toBe(200);
    }
    expectRefusal(
      await clientOf(api, tenant.owner.token).patch(`/projects/${NOBODY}`, { name: 'x' }),
      404,
      'not_found',
    );
  });

  it('the endpoints under /v0.1/admin need the operator role', async () => {
    const { body: document } = await world.get('/openapi.json');
    const paths = Object.entries<Fields>(document.paths).filter(([path]) =>
      path.startsWith('/v0.1/admin/'),
    );
    expect(paths.length).toBeGreaterThan(10);
    for (const [path, item] of paths) {
      for (const method of Object.keys(item)) {
        const url = path.slice('/v0.1'.length).replaceAll(/\{\w+\}/g, NOBODY);
        for (const bearer of [world.tenant.accessKey, world.tenant.owner.token]) {
          const body = method === 'get' ? {} : { body: {} };
          const reply = await world.api.call(method.toUpperCase(), url, { bearer, ...body });
          expect([method, path, reply.status]).toEqual([method, path, 403]);
        }
      }
    }
    for (const path of ['images', 'locations', 'prices', 'organizations', 'users']) {
      const { status, body } = await world.operator.get(`/admin/${path}`);
      expect([path, status]).toEqual([path, 200]);
      expect(body.items).toBeInstanceOf(Array);
    }
    expect((await world.operator.get(`/admin${P}/quotas`)).status).toBe(200);
  });
});
