import { newId } from '@gantry/model/ids';
import { fenceHosts } from '@gantry/scheduler/fencing/fence-hosts';
import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import type { HandDrivenHost } from '@gantry/testkit/hosts/hand-driven-host';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type NumberWatch, watchNumbers } from './watch-numbers.ts';

let cloud: Cloud;
let grown: NumberWatch['grown'];
let specsByHost: NumberWatch['specsByHost'];
let host: HandDrivenHost;
let other: HandDrivenHost;
beforeAll(async () => {
  cloud = await startCloud();
  ({ grown, specsByHost } = watchNumbers(cloud.sql));
  host = await cloud.addHandDrivenHost({ gpus: 8, sharedStorage: true });
  other = await cloud.addHandDrivenHost({ gpus: 4, sharedStorage: true });
});
afterAll(() => cloud.stop());

const change = (vmId: string, action: string) => cloud.request('PATCH', `/vms/${vmId}`, { action });
/** Returns a VM that is on no host. Its OS disk is kept by `host`. */
const stoppedVm = async () => {
  const id = await cloud.runVm(host);
  await change(id, 'STOP');
  await host.obey();
  return id;
};
const takeDownOf = async (vmId: string) =>
  (await specsByHost()).get(host.id)?.takeDowns?.find(({ id }) => id === vmId);

describe('the number of the host that keeps a disk grows when', () => {
  it('a disk that has yet to grow is attached to a VM on another host', async () => {
    const [keeper, user] = [await cloud.runVm(host), await cloud.runVm(other)];
    const diskId = await cloud.createDisk();
    const attach = (vmId: string) =>
      cloud.request('POST', `/vms/${vmId}/attach-disks`, { attach_disks: [{ disk_id: diskId }] });
    await attach(keeper);
    await host.obey();
    await cloud.request('POST', `/vms/${keeper}/detach-disks`, { detach_disks: [diskId] });
    await host.obey();
    await cloud.sql`update disks set size_gib = size_gib + 10 where id = ${diskId}`;
    expect((await specsByHost()).get(host.id)?.disks).toMatchObject([{ id: diskId }]);
    expect(await grown(() => attach(user))).toEqual([host.id, other.id].sort());
    expect((await specsByHost()).get(host.id)?.disks).toEqual([]);
    await other.obey();
  });

  it('a VM that is on no host is to be removed, and when it is to be kept after all', async () => {
    const id = await stoppedVm();
    const set = (values: object) => () =>
      cloud.sql`update vms set ${cloud.sql(values)} where id = ${id}`;
    const removed = async () => (await specsByHost()).get(host.id)?.deletedDisks?.length;
    for (const [remove, keep] of [
      [{ desired_state: 'deleted' }, { desired_state: 'stopped' }],
      [{ abandoned: true }, { abandoned: false }],
    ] as const) {
      expect(await grown(set(remove))).toEqual([host.id]);
      expect(await removed()).toBe(1);
      expect(await grown(set(keep))).toEqual([host.id]);
      expect(await removed()).toBe(0);
    }
    await cloud.request('DELETE', `/vms/${id}`);
    await host.obey();
  });

  it('a VM that is to be removed loses its host, which is fenced', async () => {
    const dead = await cloud.addHandDrivenHost({ sharedStorage: true });
    const id = await stoppedVm();
    await change(id, 'START');
    await cloud.place(id, dead);
    await cloud.request('DELETE', `/vms/${id}`);
    await cloud.sql`update hosts set fenced_at = now() where id = ${dead.id}`;
    expect(await grown(() => fenceHosts(cloud))).toEqual([host.id, dead.id].sort());
    expect((await specsByHost()).get(host.id)?.deletedDisks).toHaveLength(1);
    await host.obey();
  });
});

it('the number of the heir of a disk grows if its VM is deleted while the host that kept it is fenced', async () => {
  const id = await stoppedVm();
  let deleted: Promise<unknown> = Promise.resolve();
  const fence = () =>
    cloud.sql.begin(async (tx) => {
      const moved = await tx`update disks set host_id = ${other.id} from disk_attachments a
        where a.disk_id = disks.id and a.vm_id = ${id}`;
      expect(moved.count).toBe(1);
      deleted = cloud.request('DELETE', `/vms/${id}`);
      await vi.waitFor(async () => {
        const blocked = await cloud.sql`select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`;
        const [vm] = await cloud.sql`select desired_state from vms where id = ${id}`;
        expect(blocked.length > 0 || vm?.['desired_state'] === 'deleted').toBe(true);
      });
    });
  const both = async () => {
    await fence();
    await deleted;
  };
  expect(await grown(both)).toEqual([other.id]);
  expect((await specsByHost()).get(other.id)?.deletedDisks).toHaveLength(1);
  await other.obey();
});

describe('the number of a host grows when', () => {
  it('a VM that is being stopped is to be removed with its OS disk', async () => {
    const id = await cloud.runVm(host);
    await change(id, 'STOP');
    expect(await takeDownOf(id)).toMatchObject({ graceful: true, disks: [] });
    const abandon = () => cloud.sql`update vms set abandoned = true where id = ${id}`;
    expect(await grown(abandon)).toEqual([host.id]);
    expect(await takeDownOf(id)).toMatchObject({ graceful: false, disks: [expect.any(String)] });
    await host.obey();
  });

  it('a VM that is to be placed elsewhere turns out to have run, so that its OS disk is kept', async () => {
    const { id } = await cloud.createVm();
    await cloud.place(id, host);
    await cloud.sql`update vms set relocating = true where id = ${id}`;
    expect(await takeDownOf(id)).toMatchObject({ disks: [expect.any(String)] });
    const observe = () => cloud.sql`update vms set observed_state = 'stopped' where id = ${id}`;
    expect(await grown(observe)).toEqual([host.id]);
    expect(await takeDownOf(id)).toMatchObject({ disks: [] });
    await cloud.request('DELETE', `/vms/${id}`);
    await host.obey();
  });

  it('a device of a VM turns out to be of another kind', async () => {
    const id = await cloud.runVm(host);
    const setKind = (kind: string) => () =>
      cloud.sql`update devices set kind = ${kind}
      where id = (select device_id from device_claims where vm_id = ${id} order by 1 limit 1)`;
    const [device] = await cloud.sql<{ kind: string }[]>`select d.kind from devices d
      join device_claims c on c.device_id = d.id where c.vm_id = ${id} order by d.id limit 1`;
    expect(await grown(setKind(device?.kind === 'gpu' ? 'drive' : 'gpu'))).toEqual([host.id]);
    expect(await grown(setKind(device?.kind ?? ''))).toEqual([host.id]);
  });

  it('an orphan is to be deleted, has another device, and is gone', async () => {
    const id = newId();
    const insert =
      () => cloud.sql`insert into orphans (id, host_id, vm_id, revision, generation, description)
      values (${id}, ${host.id}, ${newId()}, 1, 1, '{}')`;
    const claim = () => cloud.sql`insert into device_claims (device_id, orphan_id)
      select d.id, ${id} from devices d left join device_claims c on c.device_id = d.id
      where d.host_id = ${host.id} and c.device_id is null limit 1`;
    const decide = (decision: string | null) => () =>
      cloud.sql`update orphans set decision = ${decision} where id = ${id}`;
    const remove = () => cloud.sql`delete from orphans where id = ${id}`;
    expect(await grown(insert)).toEqual([]);
    expect(await grown(claim)).toEqual([]);
    expect(await grown(decide('delete'))).toEqual([host.id]);
    expect(await grown(claim)).toEqual([host.id]);
    expect(await grown(remove)).toEqual([host.id]);
    await insert();
    expect(await grown(remove)).toEqual([]);
  });
});
