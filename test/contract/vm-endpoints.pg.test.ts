import { failOperation, finishVm, finishVmDeletion } from '@gantry/testkit/make/finished';
import { newName, vmBody } from '@gantry/testkit/make/request-bodies';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  attachDisk,
  expectFieldRefused,
  expectRefusal,
  type Fields,
  makeDisk,
  makeVm,
  membersOf,
  NOBODY,
  OTHER_LOCATION,
  operationOf,
  startWorld,
  type World,
} from './support.ts';

let world: World;
let P: string;

beforeAll(async () => {
  world = await startWorld({ trustedProxies: 1 });
  ({ P } = world);
});
afterAll(() => world.api.stop());

const read = async (path: string) => (await world.get(path)).body;
const namesOf = (items: Fields[]) => items.map(({ name }) => name);

describe('docs/contract/vms.md: endpoints and their replies', () => {
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
});
