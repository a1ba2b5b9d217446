import { updateImpairments } from '@gantry/db/queries/hosts/host-trouble';
import { listUnplacedVms } from '@gantry/db/queries/placement/unplaced-vms';
import { endOverdueOperations } from '@gantry/scheduler/settle/end-overdue';
import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import { failure, type HandDrivenHost } from '@gantry/testkit/hosts/hand-driven-host';
import { LOCATION } from '@gantry/testkit/make/request-bodies';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let cloud: Cloud;
let sick: HandDrivenHost;
let healthy: HandDrivenHost;
beforeEach(async () => {
  cloud = await startCloud();
  sick = await cloud.addHandDrivenHost();
  healthy = await cloud.addHandDrivenHost();
});
afterEach(() => cloud.stop());

const troubleOf = async (host: HandDrivenHost) =>
  (await cloud.sql`select trouble from hosts where id = ${host.id}`)[0]?.['trouble'];
const unplaced = async () =>
  (await listUnplacedVms(cloud.sql, { location: LOCATION, limit: 10 })).vms;
const failed = (code: string) => ({
  ...{ state: 'VM_OBSERVED_STATE_FAILED' as const, generation: '0', disks: [] },
  failure: failure(code),
});

/** A VM whose first host cannot build it. */
async function createThere(code = 'device_lost') {
  const vm = await cloud.createVm();
  await cloud.place(vm.id, sick);
  await sick.say(vm.id, failed(code));
  return vm;
}

describe('a VM that its host could not build', () => {
  it('for a reason of the host is placed on another host, and its creation succeeds', async () => {
    const { id, operationId } = await createThere();
    expect(await cloud.operation(operationId)).toMatchObject({ state: 'IN_PROGRESS' });
    expect(await cloud.vmState(id)).toBe('STATE_CREATING');
    expect(await unplaced()).toEqual([]);
    const { takeDowns } = await sick.spec();
    expect(takeDowns).toMatchObject([{ id, disks: [expect.any(String)] }]);
    await sick.obey();
    expect(await unplaced()).toMatchObject([{ id, avoided_hosts: [sick.id] }]);
    expect(await cloud.sql`select from device_claims where vm_id = ${id}`).toHaveLength(0);
    await cloud.place(id, healthy);
    await healthy.obey();
    expect(await cloud.operation(operationId)).toMatchObject({ state: 'SUCCEEDED' });
    expect(await cloud.vmState(id)).toBe('STATE_RUNNING');
  });

  it('for a reason that every host has fails at once', async () => {
    const { operationId } = await createThere('image_unavailable');
    expect(await cloud.operation(operationId)).toMatchObject({
      ...{ state: 'FAILED', result: { code: 'image_unavailable' } },
    });
    expect(await troubleOf(sick)).toBe('');
  });

  it('fails with the reason if there is no other host', async () => {
    await cloud.sql`update hosts set admin_state = 'cordoned' where id = ${healthy.id}`;
    const { operationId } = await createThere();
    expect(await cloud.operation(operationId)).toMatchObject({
      ...{ state: 'FAILED', result: { code: 'device_lost' } },
    });
  });

  it('fails with the reason if its host does not remove it in time', async () => {
    const { operationId } = await createThere('start_timed_out');
    await cloud.sql`update operations set deadline_at = now() - interval '1 second' where id = ${operationId}`;
    await endOverdueOperations(cloud);
    expect(await cloud.operation(operationId)).toMatchObject({
      ...{ state: 'FAILED' },
      result: {
        code: 'start_timed_out',
        message: expect.stringContaining('its host did not remove it in time'),
      },
    });
  });

  it('can be deleted while it moves', async () => {
    const { id } = await createThere();
    await cloud.request('DELETE', `/vms/${id}`);
    await sick.obey();
    await cloud.settleWithoutHost();
    expect(await cloud.vmState(id)).toBe('gone');
  });
});

describe('a host takes no new VMs', () => {
  it('after two VMs in a row that it could not build, until it has built one', async () => {
    await createThere();
    expect(await troubleOf(sick)).toBe('');
    await createThere();
    expect(await troubleOf(sick)).toBe('it could not build the last 2 VMs');
    const { id } = await cloud.createVm();
    await cloud.place(id, sick);
    await sick.obey();
    expect(await troubleOf(sick)).toBe('');
  });

  it('but a VM that two hosts could not build counts nowhere, and one VM counts once', async () => {
    for (let created = 0; created < 2; created += 1) {
      const { id } = await createThere();
      await sick.obey();
      await cloud.place(id, healthy);
      await healthy.say(id, failed('device_lost'));
      await healthy.obey();
    }
    expect([await troubleOf(sick), await troubleOf(healthy)]).toEqual(['', '']);
  });

  it('while its agent refuses its desired state', async () => {
    const report = await sick.done();
    const refusal = { number: '9', failure: failure('bad_spec') };
    await sick.report({ ...report, refusal }, { isAccepted: false });
    expect(await troubleOf(sick)).toMatch(/^its agent refuses its desired state: it went wrong/);
    await sick.obey();
    expect(await troubleOf(sick)).toBe('');
  });

  it('while it does not acknowledge its desired state, and operators see why', async () => {
    const impairment = 'it has not acknowledged its desired state for 5 seconds';
    await updateImpairments(cloud.sql, { hostIds: [sick.id], impairment });
    const [before] =
      await cloud.sql`select changed_xid from host_revisions where host_id = ${sick.id}`;
    const path = `/admin/hosts/${sick.id}`;
    const { body } = await cloud.api.call('GET', path, { bearer: cloud.operator });
    expect(body).toMatchObject({ trouble: impairment });
    // A new stream clears it: the next scheduler judges the host anew.
    await sick.attachAgain();
    expect(await troubleOf(sick)).toBe('');
    const [after] =
      await cloud.sql`select changed_xid from host_revisions where host_id = ${sick.id}`;
    expect(after).not.toEqual(before);
  });
});
