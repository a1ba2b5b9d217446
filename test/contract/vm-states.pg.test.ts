import { finishVm, finishVmDeletion } from '@gantry/testkit/make/finished';
import { vmBody } from '@gantry/testkit/make/request-bodies';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  expectRefusal,
  type Fields,
  giveAddresses,
  makeVm,
  operationOf,
  readOpenApi,
  startWorld,
  valuesOf,
  type World,
} from './support.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.api.stop());

const read = async (vmId: string) => (await world.get(`${world.P}/vms/${vmId}`)).body;
const stateOf = async (vmId: string): Promise<string> => (await read(vmId)).state;
const act = (vmId: string, action: string) => world.patch(`${world.P}/vms/${vmId}`, { action });
const remove = (vmId: string) => world.delete(`${world.P}/vms/${vmId}`);

/**
 * Expects that a VM in the state that `make` produces accepts these actions and no others. DELETE
 * is always accepted.
 */
async function expectLeavesBy(make: () => Promise<string>, actions: string[]): Promise<void> {
  for (const action of ['START', 'STOP', 'RESET']) {
    const reply = await act(await make(), action);
    expect([action, reply.status], reply.body.message).toEqual([
      action,
      actions.includes(action) ? 200 : 409,
    ]);
  }
  operationOf(await remove(await make()));
}

/** Makes the host unreachable. */
async function makeUnreachable(): Promise<string> {
  const vmId = await makeVm(world);
  await world.api.sql`update vms set reachable = false where id = ${vmId}`;
  return vmId;
}

/** A VM that its host has not yet reported. */
async function makeActing(from: 'running' | 'stopped', action: string): Promise<string> {
  const vmId = await makeVm(world, {}, from);
  operationOf(await act(vmId, action));
  return vmId;
}

async function makeCreating(): Promise<string> {
  return operationOf(await world.post(`${world.P}/vms`, vmBody())).metadata.id;
}

describe('docs/contract/vms.md#states', () => {
  it('a VM has the documented states and no others', async () => {
    expect(valuesOf(await readOpenApi(world.api), 'Vm', 'state')).toEqual(
      [
        ...['STATE_CREATING', 'STATE_RUNNING', 'STATE_STOPPING', 'STATE_SHUTOFF'],
        ...['STATE_STARTING', 'STATE_RESETTING', 'STATE_CRASHED', 'STATE_UNREACHABLE'],
        ...['STATE_ERROR', 'STATE_DELETING'],
      ].sort(),
    );
  });

  it('STATE_CREATING lasts until the VM runs; a failed creation removes the VM', async () => {
    const vmId = await makeCreating();
    expect(await stateOf(vmId)).toBe('STATE_CREATING');
    await finishVm(world.api.sql, vmId, 'running');
    expect(await stateOf(vmId)).toBe('STATE_RUNNING');
    await expectLeavesBy(makeCreating, []);
    // The scheduler removes a failed creation. Its own tests check that.
  });

  it('STATE_RUNNING allows STOP, RESET and DELETE, and can end in a crash', async () => {
    const make = () => makeVm(world);
    expect(await stateOf(await make())).toBe('STATE_RUNNING');
    await expectLeavesBy(make, ['STOP', 'RESET']);
    const crashing = await make();
    await world.api.sql`update vms set observed_state = 'crashed' where id = ${crashing}`;
    expect(await stateOf(crashing)).toBe('STATE_CRASHED');
  });

  it('STOP leads through STATE_STOPPING to STATE_SHUTOFF, and START through STATE_STARTING', async () => {
    const vmId = await makeVm(world);
    await giveAddresses(world, { vmId, privateIp: '172.27.0.20' });
    const before = await read(vmId);
    const kept = ({ disks, network_interfaces, ssh_destination }: Fields) => ({
      ...{ disks, network_interfaces, ssh_destination },
    });

    expect(operationOf(await act(vmId, 'STOP')).metadata.operation_name).toBe('STOP');
    expect(await stateOf(vmId)).toBe('STATE_STOPPING');
    await finishVm(world.api.sql, vmId, 'stopped');
    const off = await read(vmId);
    expect(off.state).toBe('STATE_SHUTOFF');
    expect(kept(off)).toEqual(kept(before));
    expect(operationOf(await act(vmId, 'START')).metadata.operation_name).toBe('START');
    expect(await stateOf(vmId)).toBe('STATE_STARTING');
    await finishVm(world.api.sql, vmId, 'running');
    expect(await stateOf(vmId)).toBe('STATE_RUNNING');

    await expectLeavesBy(() => makeActing('running', 'STOP'), []);
    await expectLeavesBy(() => makeVm(world, {}, 'stopped'), ['START']);
    await expectLeavesBy(() => makeActing('stopped', 'START'), []);
  });

  it('STATE_RESETTING ends in STATE_RUNNING', async () => {
    const vmId = await makeActing('running', 'RESET');
    expect(await stateOf(vmId)).toBe('STATE_RESETTING');
    await finishVm(world.api.sql, vmId, 'running');
    expect(await stateOf(vmId)).toBe('STATE_RUNNING');
    await expectLeavesBy(() => makeActing('running', 'RESET'), []);
  });

  it('STATE_CRASHED allows START and DELETE', async () => {
    const make = () => makeVm(world, {}, 'crashed');
    expect(await stateOf(await make())).toBe('STATE_CRASHED');
    await expectLeavesBy(make, ['START']);
  });

  it('STATE_UNREACHABLE gives nothing away, and ends when the host is back', async () => {
    const vmId = await makeUnreachable();
    expect(await stateOf(vmId)).toBe('STATE_UNREACHABLE');
    await world.api
      .sql`update vms set reachable = true, observed_state = 'crashed' where id = ${vmId}`;
    expect(await stateOf(vmId)).toBe('STATE_CRASHED');
    await expectLeavesBy(makeUnreachable, []);
  });

  it('STATE_ERROR allows START and DELETE', async () => {
    const make = () => makeVm(world, {}, 'failed');
    expect(await stateOf(await make())).toBe('STATE_ERROR');
    await expectLeavesBy(make, ['START']);
  });

  it('STATE_DELETING ends with 404', async () => {
    const vmId = await makeVm(world);
    operationOf(await remove(vmId));
    expect(await stateOf(vmId)).toBe('STATE_DELETING');
    for (const action of ['START', 'STOP', 'RESET']) {
      expect((await act(vmId, action)).status).toBe(409);
    }
    await finishVmDeletion(world.api.sql, vmId);
    expectRefusal(await world.get(`${world.P}/vms/${vmId}`), 404, 'not_found');
  });

  it('STOP and START may change the public address and keep every id', async () => {
    const vmId = await makeVm(world);
    const { sql } = world.api;
    await giveAddresses(world, { vmId, privateIp: '172.27.0.30', publicIp: '203.0.113.30' });
    const before = await read(vmId);
    operationOf(await act(vmId, 'STOP'));
    await finishVm(sql, vmId, 'stopped');
    // The scheduler releases the dynamic address and assigns another one at the start.
    await sql`update public_addresses set network_interface_id = null where address = '203.0.113.30'`;
    operationOf(await act(vmId, 'START'));
    await giveAddresses(world, { vmId, publicIp: '203.0.113.31' });
    await finishVm(sql, vmId, 'running');

    const after = await read(vmId);
    expect(after.ssh_destination).toBe('203.0.113.31');
    const idsOf = (vm: typeof before) => ({
      id: vm.id,
      disks: vm.disks.map(({ id, serial_number }: Fields) => ({ id, serial_number })),
      interfaces: vm.network_interfaces.map(({ ips: [ip], ...rest }: { ips: Fields[] }) => ({
        ...rest,
        private_ipv4: ip?.['private_ipv4'],
      })),
    });
    expect(idsOf(after)).toEqual(idsOf(before));
    expect(idsOf(after).interfaces[0].private_ipv4.address).toBe('172.27.0.30');
  });
});
