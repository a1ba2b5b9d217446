import type { Sql } from '@gantry/db/connect';
import { fenceHosts } from '@gantry/scheduler/fencing/fence-hosts';
import { placePending } from '@gantry/scheduler/place/place-pending';
import { settleWithoutHost } from '@gantry/scheduler/settle/settle-without-host';
import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import { tenantCalls } from '@gantry/testkit/cloud/tenant-calls';
import { countWaiting, otherProcess } from '@gantry/testkit/database/other-process';
import type { HandDrivenHost } from '@gantry/testkit/hosts/hand-driven-host';
import { holdLocation, makePlacer } from '@gantry/testkit/make/placers';
import { ruleBody } from '@gantry/testkit/make/request-bodies';
import { makeTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** Both hosts reach the disks of the other one. The id of `first` is the smaller one. */
let first: HandDrivenHost;
let second: HandDrivenHost;
let cloud: Cloud;
let elsewhere: Sql;
beforeAll(async () => {
  cloud = await startCloud();
  elsewhere = otherProcess(cloud.api.databaseUrl);
  [first, second] = await addHosts();
});
afterAll(async () => {
  await elsewhere.end({ timeout: 5 });
  await cloud.stop();
});

async function addHosts(): Promise<[HandDrivenHost, HandDrivenHost]> {
  const host = () => cloud.addHandDrivenHost({ gpus: 8, sharedStorage: true });
  const [one, other] = [await host(), await host()];
  return one.id < other.id ? [one, other] : [other, one];
}

const attach = (vmId: string, diskIds: string[], mode = 'read-write') =>
  cloud.request('POST', `/vms/${vmId}/attach-disks`, {
    attach_disks: diskIds.map((disk_id) => ({ disk_id, mode })),
  });
const detach = (vmId: string, diskId: string) =>
  cloud.request('POST', `/vms/${vmId}/detach-disks`, { detach_disks: [diskId] });
/** As if the host that keeps the disk could not grow it. */
const leaveToGrow = (diskId: string) =>
  cloud.sql`update disks set size_gib = size_gib + 10 where id = ${diskId}`;

/** Returns a disk that the host keeps, and that no VM has. */
async function diskKeptBy(host: HandDrivenHost): Promise<string> {
  const [vmId, diskId] = [await cloud.runVm(host), await cloud.createDisk()];
  await attach(vmId, [diskId]);
  await host.obey();
  await detach(vmId, diskId);
  await host.obey();
  return diskId;
}

/** Another transaction has the number of the first host. The change waits for it without that of the second one. */
async function expectOrder(change: () => Promise<unknown>): Promise<void> {
  let changed: Promise<unknown> = Promise.resolve();
  await elsewhere.begin(async (tx) => {
    await tx`select from host_revisions where host_id = ${first.id} for update`;
    changed = change();
    await expect.poll(() => countWaiting(elsewhere)).toBe(1);
    const free = await elsewhere`select from host_revisions where host_id = ${second.id}
      for update skip locked`;
    expect(free).toHaveLength(1);
  });
  await changed;
}

describe('the numbers of hosts are locked in the order of ids when', () => {
  it('a VM is removed whose shared volume another host has yet to grow', async () => {
    const diskId = await cloud.createDisk('shared-volume');
    const vmId = await cloud.runVm(second);
    // The host that attached it last keeps it.
    for (const [user, host] of [
      [vmId, second] as const,
      [await cloud.runVm(first), first] as const,
    ]) {
      await attach(user, [diskId]);
      await host.obey();
    }
    await leaveToGrow(diskId);
    await cloud.request('DELETE', `/vms/${vmId}`);
    await expectOrder(() => second.obey());
    expect(await cloud.vmState(vmId)).toBe('gone');
  });

  it('a disk grows that VMs on two hosts read', async () => {
    const diskId = await cloud.createDisk();
    for (const host of [first, second]) {
      await attach(await cloud.runVm(host), [diskId], 'read-only');
      await host.obey();
    }
    await cloud.sql`update hosts set storage_gib = 100000`;
    await expectOrder(() => cloud.request('PATCH', `/disks/${diskId}`, { size: '20GiB' }));
    await cloud.sql`update hosts set storage_gib = null`;
  });

  it('two disks are attached, of which another host has yet to grow the second', async () => {
    const [plain, growing] = [await cloud.createDisk(), await diskKeptBy(first)];
    const vmId = await cloud.runVm(second);
    await leaveToGrow(growing);
    await expectOrder(() => attach(vmId, [plain, growing]));
  });

  it('disks are detached from two VMs that are on no host, before their hosts could grow them', async () => {
    const detaching: (() => Promise<unknown>)[] = [];
    for (const keeper of [second, first]) {
      const [vmId, diskId] = [await cloud.runVm(second), await diskKeptBy(keeper)];
      await cloud.request('PATCH', `/vms/${vmId}`, { action: 'STOP' });
      await second.obey();
      await attach(vmId, [diskId]);
      detaching.push(
        () => detach(vmId, diskId),
        () => leaveToGrow(diskId),
      );
    }
    await settleWithoutHost(cloud.sql);
    for (const step of detaching) await step();
    await expectOrder(() => settleWithoutHost(cloud.sql));
  });

  it('a host is fenced and another one takes over its disks', async () => {
    await leaveToGrow(await diskKeptBy(second));
    await cloud.sql`update hosts set fenced_at = now() where id = ${second.id}`;
    await expectOrder(() => fenceHosts(cloud));
  });
});

it('no VM is placed in a network while a VM is removed that a rule of it names', async () => {
  const { api, sql } = cloud;
  const [smaller, larger] = await addHosts();
  const tenant = tenantCalls(api, await makeTenant(api, 'bolt'));
  const network = (await tenant.call('GET', '/vpc/networks')).body.items[0].id;
  const [{ id: named }, { id: other }] = [await tenant.createVm(), await tenant.createVm()];
  const sources = [{ resource_id: named }];
  await tenant.request('POST', '/vpc/firewall-rules', ruleBody(network, { sources }));
  await cloud.place(named, larger);
  await larger.obey();
  await tenant.request('DELETE', `/vms/${named}`);
  await sql`update hosts set admin_state = 'cordoned' where id <> ${smaller.id}`;
  const placer = makePlacer(sql, await holdLocation(sql));
  let ends: Promise<unknown>[] = [];
  await elsewhere.begin(async (tx) => {
    await tx`select from host_revisions where host_id = ${larger.id} for update`;
    ends = [larger.obey()];
    await expect.poll(() => countWaiting(elsewhere)).toBe(1);
    // Otherwise the removal would also have to lock the number of the smaller host, and it waits for the larger one.
    ends.push(placePending(placer));
    await expect.poll(() => countWaiting(elsewhere)).toBe(2);
  });
  await Promise.all(ends);
  expect(await tenant.vmState(named)).toBe('gone');
  await smaller.obey();
  expect(await tenant.vmState(other)).toBe('STATE_RUNNING');
});
