import { endOverdueOperations } from '@gantry/scheduler/settle/end-overdue';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ground, startGround } from './ground.ts';
import { type HandHost, wordOn } from './hand-host.ts';

let ground: Ground;
let host: HandHost;
beforeAll(async () => {
  ground = await startGround();
  host = await ground.addHost({ gpus: 8 });
});
afterAll(() => ground.stop());

/** Its deadline passes. */
const expire = async (operationId: string) => {
  await ground.sql`update operations set deadline_at = now() - interval '1 second' where id = ${operationId}`;
  await endOverdueOperations(ground);
  return await ground.operation(operationId);
};
const failed = { state: 'FAILED', result: { code: 'host_failed' } };
const change = async (vmId: string, action: string) =>
  (await ground.ask('PATCH', `/vms/${vmId}`, { action })).operationId;

describe('past its deadline', () => {
  it('a CREATE without a host fails and the VM is removed', async () => {
    const { id, operationId } = await ground.createVm();
    expect(await expire(operationId)).toMatchObject(failed);
    await ground.turn();
    expect(await ground.vmState(id)).toBe('gone');
  });

  it('a CREATE on a host fails and the unfinished VM is taken down', async () => {
    const { id, operationId } = await ground.createVm();
    await ground.place(id, host);
    const late = await host.done();
    expect(await expire(operationId)).toMatchObject(failed);
    await host.report(late);
    expect(await ground.vmState(id)).toBe('STATE_DELETING');
    await host.obey();
    expect(await ground.vmState(id)).toBe('gone');
  });

  it('a START without a host restores the previous state, and one on a host ends in ERROR', async () => {
    const id = await ground.runVm(host);
    await change(id, 'STOP');
    await host.obey();
    expect(await expire(await change(id, 'START'))).toMatchObject(failed);
    expect(await ground.vmState(id)).toBe('STATE_SHUTOFF');
    const again = await change(id, 'START');
    await ground.place(id, host);
    expect(await expire(again)).toMatchObject(failed);
    expect(await ground.vmState(id)).toBe('STATE_ERROR');
    expect((await host.spec()).deleted).toMatchObject([{ id }]);
    await host.obey();
  });

  it('a RESET fails and the VM keeps running', async () => {
    const id = await ground.runVm(host);
    expect(await expire(await change(id, 'RESET'))).toMatchObject(failed);
    expect(await ground.vmState(id)).toBe('STATE_RUNNING');
  });

  it('a STOP and a DELETE fail, and still take effect when the host can do it', async () => {
    const id = await ground.runVm(host);
    expect(await expire(await change(id, 'STOP'))).toMatchObject(failed);
    expect(await ground.vmState(id)).toBe('STATE_STOPPING');
    await host.obey();
    expect(await ground.vmState(id)).toBe('STATE_SHUTOFF');
    const { operationId } = await ground.ask('DELETE', `/vms/${id}`);
    expect(await expire(operationId)).toMatchObject(failed);
    await host.obey();
    await ground.turn();
    expect(await ground.vmState(id)).toBe('gone');
  });

  it('attachments and detachments are rolled back', async () => {
    const id = await ground.runVm(host);
    const diskId = await ground.createDisk();
    const attach = {
      attach_disks: [{ disk_id: diskId, mode: 'read-write', attachment_type: 'data' }],
    };
    const attachment = await ground.ask('POST', `/vms/${id}/attach-disks`, attach);
    expect(await expire(attachment.operationId)).toMatchObject(failed);
    await host.obey();
    expect(await ground.sql`select from disk_attachments where disk_id = ${diskId}`).toHaveLength(
      0,
    );
    await ground.ask('POST', `/vms/${id}/attach-disks`, attach);
    const { vms } = await host.obey();
    const detachment = await ground.ask('POST', `/vms/${id}/detach-disks`, {
      detach_disks: [diskId],
    });
    expect(await expire(detachment.operationId)).toMatchObject(failed);
    await host.obey((report) => {
      wordOn(report, id).disks = wordOn({ ...report, vms }, id).disks;
    });
    expect((await ground.call('GET', `/vms/${id}`)).body.disks).toHaveLength(2);
  });

  it('the deletion of a disk fails, and still takes effect when its host is back', async () => {
    const id = await ground.runVm(host);
    const diskId = await ground.createDisk();
    await ground.ask('POST', `/vms/${id}/attach-disks`, {
      attach_disks: [{ disk_id: diskId, mode: 'read-write', attachment_type: 'data' }],
    });
    await host.obey();
    await ground.ask('POST', `/vms/${id}/detach-disks`, { detach_disks: [diskId] });
    await host.obey();
    const { operationId } = await ground.ask('DELETE', `/disks/${diskId}`);
    expect(await expire(operationId)).toMatchObject(failed);
    await host.obey();
    await ground.turn();
    expect((await ground.call('GET', `/disks/${diskId}`)).status).toBe(404);
  });

  it('an operation that cannot be ended does not prevent the end of the others', async () => {
    const { operationId: bad } = await ground.createVm();
    const { operationId } = await ground.createVm();
    await ground.sql`update operations set deadline_at = now() - interval '1 hour' where id = ${bad}`;
    await ground.sql`create function refuse() returns trigger language plpgsql as 'begin raise exception ''no''; end'`;
    await ground.sql.unsafe(`create trigger refuse before update on operations for each row
      when (OLD.id = '${bad}') execute function refuse()`);
    try {
      expect(await expire(operationId)).toMatchObject(failed);
    } finally {
      await ground.sql`drop trigger refuse on operations`;
      await ground.sql`drop function refuse`;
    }
    expect(await expire(bad)).toMatchObject(failed);
  });
});

it('an operation that ended just before its deadline, and one that began since, are not changed', async () => {
  const id = await ground.runVm(host);
  const stopped = await change(id, 'STOP');
  await host.obey();
  const next = await change(id, 'START');
  expect(await expire(stopped)).toMatchObject({ state: 'SUCCEEDED' });
  expect(await ground.operation(next)).toMatchObject({ state: 'IN_PROGRESS' });
});
