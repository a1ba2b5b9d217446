import { endOverdueOperations } from '@gantry/scheduler/settle/end-overdue';
import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import { type HandDrivenHost, wordOn } from '@gantry/testkit/hosts/hand-driven-host';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let cloud: Cloud;
let host: HandDrivenHost;
beforeAll(async () => {
  cloud = await startCloud();
  host = await cloud.addHandDrivenHost({ gpus: 8 });
});
afterAll(() => cloud.stop());

/** Moves the deadline of the operation into the past. */
const expire = async (operationId: string) => {
  await cloud.sql`update operations set deadline_at = now() - interval '1 second' where id = ${operationId}`;
  await endOverdueOperations(cloud);
  return await cloud.operation(operationId);
};
const failed = { state: 'FAILED', result: { code: 'host_failed' } };
const change = async (vmId: string, action: string) =>
  (await cloud.request('PATCH', `/vms/${vmId}`, { action })).operationId;

describe('past its deadline', () => {
  it('a CREATE without a host fails and the VM is removed', async () => {
    const { id, operationId } = await cloud.createVm();
    expect(await expire(operationId)).toMatchObject(failed);
    await cloud.settleWithoutHost();
    expect(await cloud.vmState(id)).toBe('gone');
  });

  it('a CREATE on a host fails and the unfinished VM is taken down', async () => {
    const { id, operationId } = await cloud.createVm();
    await cloud.place(id, host);
    const late = await host.done();
    expect(await expire(operationId)).toMatchObject(failed);
    await host.report(late);
    expect(await cloud.vmState(id)).toBe('STATE_DELETING');
    await host.obey();
    expect(await cloud.vmState(id)).toBe('gone');
  });

  it('a START without a host restores the previous state, and one on a host ends in ERROR', async () => {
    const id = await cloud.runVm(host);
    await change(id, 'STOP');
    await host.obey();
    expect(await expire(await change(id, 'START'))).toMatchObject(failed);
    expect(await cloud.vmState(id)).toBe('STATE_SHUTOFF');
    const again = await change(id, 'START');
    await cloud.place(id, host);
    expect(await expire(again)).toMatchObject(failed);
    expect(await cloud.vmState(id)).toBe('STATE_ERROR');
    expect((await host.spec()).takeDowns).toMatchObject([{ id }]);
    await host.obey();
  });

  it('a RESET fails and the VM keeps running', async () => {
    const id = await cloud.runVm(host);
    expect(await expire(await change(id, 'RESET'))).toMatchObject(failed);
    expect(await cloud.vmState(id)).toBe('STATE_RUNNING');
  });

  it('a STOP and a DELETE fail, and still take effect when the host can do it', async () => {
    const id = await cloud.runVm(host);
    expect(await expire(await change(id, 'STOP'))).toMatchObject(failed);
    expect(await cloud.vmState(id)).toBe('STATE_STOPPING');
    await host.obey();
    expect(await cloud.vmState(id)).toBe('STATE_SHUTOFF');
    const { operationId } = await cloud.request('DELETE', `/vms/${id}`);
    expect(await expire(operationId)).toMatchObject(failed);
    await host.obey();
    await cloud.settleWithoutHost();
    expect(await cloud.vmState(id)).toBe('gone');
  });

  it('attachments and detachments are rolled back', async () => {
    const id = await cloud.runVm(host);
    const diskId = await cloud.createDisk();
    const attach = {
      attach_disks: [{ disk_id: diskId, mode: 'read-write', attachment_type: 'data' }],
    };
    const attachment = await cloud.request('POST', `/vms/${id}/attach-disks`, attach);
    expect(await expire(attachment.operationId)).toMatchObject(failed);
    await host.obey();
    expect(await cloud.sql`select from disk_attachments where disk_id = ${diskId}`).toHaveLength(0);
    await cloud.request('POST', `/vms/${id}/attach-disks`, attach);
    const { vms } = await host.obey();
    const detachment = await cloud.request('POST', `/vms/${id}/detach-disks`, {
      detach_disks: [diskId],
    });
    expect(await expire(detachment.operationId)).toMatchObject(failed);
    await host.obey((report) => {
      wordOn(report, id).disks = wordOn({ ...report, vms }, id).disks;
    });
    expect((await cloud.call('GET', `/vms/${id}`)).body.disks).toHaveLength(2);
  });

  it('the deletion of a disk fails, and still takes effect when its host is back', async () => {
    const id = await cloud.runVm(host);
    const diskId = await cloud.createDisk();
    await cloud.request('POST', `/vms/${id}/attach-disks`, {
      attach_disks: [{ disk_id: diskId, mode: 'read-write', attachment_type: 'data' }],
    });
    await host.obey();
    await cloud.request('POST', `/vms/${id}/detach-disks`, { detach_disks: [diskId] });
    await host.obey();
    const { operationId } = await cloud.request('DELETE', `/disks/${diskId}`);
    expect(await expire(operationId)).toMatchObject(failed);
    await host.obey();
    await cloud.settleWithoutHost();
    expect((await cloud.call('GET', `/disks/${diskId}`)).status).toBe(404);
  });

  it('an operation that cannot be ended does not prevent the end of the others', async () => {
    const { operationId: bad } = await cloud.createVm();
    const { operationId } = await cloud.createVm();
    await cloud.sql`update operations set deadline_at = now() - interval '1 hour' where id = ${bad}`;
    await cloud.sql`create function refuse() returns trigger language plpgsql as 'begin raise exception ''no''; end'`;
    await cloud.sql.unsafe(`create trigger refuse before update on operations for each row
      when (OLD.id = '${bad}') execute function refuse()`);
    try {
      expect(await expire(operationId)).toMatchObject(failed);
    } finally {
      await cloud.sql`drop trigger refuse on operations`;
      await cloud.sql`drop function refuse`;
    }
    expect(await expire(bad)).toMatchObject(failed);
  });
});

it('an operation that ended just before its deadline, and one that began since, are not changed', async () => {
  const id = await cloud.runVm(host);
  const stopped = await change(id, 'STOP');
  await host.obey();
  const next = await change(id, 'START');
  expect(await expire(stopped)).toMatchObject({ state: 'SUCCEEDED' });
  expect(await cloud.operation(next)).toMatchObject({ state: 'IN_PROGRESS' });
});
