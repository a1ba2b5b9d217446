import { readNetworkMembers } from '@gantry/db/queries/hosts/network-members';
import { newId } from '@gantry/model/ids';
import { fenceHosts } from '@gantry/scheduler/fencing/fence-hosts';
import { endOverdueOperations } from '@gantry/scheduler/settle/end-overdue';
import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import { failure, type HandDrivenHost, wordOn } from '@gantry/testkit/hosts/hand-driven-host';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type NumberWatch, watchNumbers } from './watch-numbers.ts';

let cloud: Cloud;
let grown: NumberWatch['grown'];
let specsByHost: NumberWatch['specsByHost'];
beforeAll(async () => {
  cloud = await startCloud();
  ({ grown, specsByHost } = watchNumbers(cloud.sql));
});
afterAll(() => cloud.stop());

const attach = (vmId: string, diskId: string, mode = 'read-write') =>
  cloud.request('POST', `/vms/${vmId}/attach-disks`, {
    attach_disks: [{ disk_id: diskId, mode, attachment_type: 'data' }],
  });

describe('the number of exactly the affected hosts grows with', () => {
  let host: HandDrivenHost;
  let other: HandDrivenHost;
  let vmId: string;
  beforeAll(async () => {
    host = await cloud.addHandDrivenHost({ gpus: 8, sharedStorage: true });
    other = await cloud.addHandDrivenHost({ sharedStorage: true });
    vmId = await cloud.runVm(host);
    await cloud.runVm(other);
  });
  const change = (action: string, id = vmId) => cloud.request('PATCH', `/vms/${id}`, { action });

  it('a placement, its end, and the creation of the OS disk', async () => {
    const { id } = await cloud.createVm();
    expect(await grown(() => cloud.place(id, host))).toEqual([host.id]);
    expect(await grown(() => host.obey())).toEqual([host.id]);
    expect(await grown(() => cloud.request('DELETE', `/vms/${id}`))).toEqual([host.id]);
    expect(await grown(() => host.obey())).toEqual([host.id]);
    expect(await grown(() => host.obey())).toEqual([]);
  });

  it('the creation of the OS disk of a VM that does not run yet', async () => {
    const { id } = await cloud.createVm();
    await cloud.place(id, host);
    const [disk] = (await specsByHost()).get(host.id)?.vms?.find((vm) => vm.id === id)?.disks ?? [];
    const report = () =>
      host.obey((said) => {
        Object.assign(wordOn(said, id), { state: 'VM_OBSERVED_STATE_WORKING', disks: [] });
        said.disks.push({ id: disk?.id ?? '', sizeBytes: String(disk?.sizeBytes) });
      });
    expect(await grown(report)).toEqual([host.id]);
    expect(await grown(report)).toEqual([]);
    expect(await grown(() => host.obey())).toEqual([]);
    await cloud.request('DELETE', `/vms/${id}`);
    await host.obey();
  });

  it('every power action, and not with the report about it', async () => {
    expect(await grown(() => change('RESET'))).toEqual([host.id]);
    expect(await grown(() => host.obey())).toEqual([]);
    expect(await grown(() => host.say(vmId, { state: 'VM_OBSERVED_STATE_CRASHED' }))).toEqual([]);
    expect(await grown(() => change('START'))).toEqual([host.id]);
    const failed = { state: 'VM_OBSERVED_STATE_FAILED', failure: failure('bad_disk') } as const;
    expect(await grown(() => host.say(vmId, failed))).toEqual([host.id]);
    expect(await grown(() => host.obey())).toEqual([host.id]);
    expect(await grown(() => change('START'))).toEqual([]);
    await cloud.place(vmId, host);
    await host.obey();
  });

  it('a creation that is abandoned', async () => {
    const { id, operationId } = await cloud.createVm();
    await cloud.place(id, host);
    await cloud.sql`update operations set deadline_at = now() - interval '1 second' where id = ${operationId}`;
    expect(await grown(() => endOverdueOperations(cloud))).toEqual([host.id]);
    await host.obey();
  });

  it('a new name of a placed VM', async () => {
    const rename = (id: string) => () =>
      cloud.request('PATCH', `/vms/${id}`, { action: 'UPDATE', name: `n${newId()}`.slice(0, 30) });
    expect(await grown(rename(vmId))).toEqual([host.id]);
    const id = await cloud.runVm(host);
    await change('STOP', id);
    await host.obey();
    expect(await grown(rename(id))).toEqual([]);
  });

  it('a disk that is attached, grown and detached, or grown and deleted where it is stored', async () => {
    const diskId = await cloud.createDisk();
    expect(await grown(() => attach(vmId, diskId))).toEqual([host.id]);
    expect(await grown(() => host.obey())).toEqual([host.id]);
    expect(await grown(() => host.obey())).toEqual([]);
    const resize = (size: string) => () => cloud.request('PATCH', `/disks/${diskId}`, { size });
    expect(await grown(resize('20GiB'))).toEqual([host.id]);
    await host.obey();
    await cloud.settleWithoutHost();
    const detach = { detach_disks: [diskId] };
    expect(await grown(() => cloud.request('POST', `/vms/${vmId}/detach-disks`, detach))).toEqual([
      host.id,
    ]);
    expect(await grown(() => host.obey())).toEqual([]);
    expect(await grown(resize('30GiB'))).toEqual([host.id]);
    expect(await grown(() => host.obey())).toEqual([host.id]);
    expect(await grown(() => cloud.settleWithoutHost())).toEqual([]);
    expect(await grown(() => cloud.request('DELETE', `/disks/${diskId}`))).toEqual([host.id]);
    expect(await grown(() => host.obey())).toEqual([host.id]);
    expect(await grown(() => cloud.settleWithoutHost())).toEqual([]);
  });

  it('the deletion of a disk that has yet to grow', async () => {
    const diskId = await cloud.createDisk();
    await attach(vmId, diskId);
    await host.obey();
    await cloud.request('POST', `/vms/${vmId}/detach-disks`, { detach_disks: [diskId] });
    await host.obey();
    await cloud.sql`update disks set size_gib = size_gib + 10 where id = ${diskId}`;
    const remove = () => cloud.sql`update disks set desired_state = 'deleted' where id = ${diskId}`;
    expect(await grown(remove)).toEqual([host.id]);
    await host.obey();
    await cloud.settleWithoutHost();
  });

  it('no change of a disk that no host stores', async () => {
    const diskId = await cloud.createDisk();
    expect(
      await grown(() => cloud.request('PATCH', `/disks/${diskId}`, { size: '20GiB' })),
    ).toEqual([]);
    await cloud.settleWithoutHost();
    expect(await grown(() => cloud.request('DELETE', `/disks/${diskId}`))).toEqual([]);
  });

  it('the deletion of a stopped VM, for the host that stores its OS disk', async () => {
    const id = await cloud.runVm(host);
    await change('STOP', id);
    await host.obey();
    expect(await grown(() => cloud.request('DELETE', `/vms/${id}`))).toEqual([host.id]);
    expect(await grown(() => host.obey())).toEqual([host.id]);
  });

  it('a pending growth, for the host that stores the disk, when its VM is placed elsewhere', async () => {
    const id = await cloud.runVm(host);
    const diskId = await cloud.createDisk();
    await attach(id, diskId);
    await host.obey();
    await change('STOP', id);
    await host.obey();
    await cloud.request('PATCH', `/disks/${diskId}`, { size: '20GiB' });
    await change('START', id);
    const both = [host.id, other.id].sort();
    expect(await grown(() => cloud.place(id, other))).toEqual(both);
    await other.say(id, { state: 'VM_OBSERVED_STATE_FAILED', failure: failure('no'), disks: [] });
    expect(await grown(() => other.obey())).toEqual(both);
    await host.obey();
    await cloud.settleWithoutHost();
  });

  it('a rule of a network, for every host of the network', async () => {
    const network = (await cloud.call('GET', '/vpc/networks')).body.items[0].id;
    const all = [host.id, other.id].sort();
    let ruleId = '';
    const create = async () => {
      ruleId = (
        await cloud.request('POST', '/vpc/firewall-rules', {
          ...{ name: 'numbered', vpc_network_id: network, direction: 'ingress', action: 'deny' },
          ...{ protocols: ['udp'], sources: [], destinations: [] },
        })
      ).id;
    };
    const settle = async () => {
      await host.obey();
      await other.obey();
      await cloud.settleWithoutHost();
    };
    expect(await grown(create)).toEqual(all);
    expect(await grown(settle)).toEqual([]);
    const rule = `/vpc/firewall-rules/${ruleId}`;
    expect(await grown(() => cloud.request('PATCH', rule, { protocols: ['tcp'] }))).toEqual(all);
    await settle();
    expect(await grown(() => cloud.request('DELETE', rule))).toEqual(all);
    expect(await grown(settle)).toEqual([]);
  });

  it('the source of an image, for hosts that have yet to create a VM from it', async () => {
    const { id } = await cloud.createVm();
    await cloud.place(id, other);
    const setSource = () =>
      cloud.sql`update images set source_url = 'file:///' || gen_random_uuid()`;
    expect(await grown(setSource)).toEqual([other.id]);
    await other.obey();
    expect(await grown(setSource)).toEqual([]);
  });

  it('the NUMA node of a GPU that a VM has', async () => {
    const move = (claimed: boolean) => () =>
      cloud.sql`update devices set numa_node = numa_node + 1 where id = (select g.id from devices g
        left join device_claims c on c.device_id = g.id
        where g.kind = 'gpu' and g.host_id = ${host.id} and (c.device_id is not null) = ${claimed} limit 1)`;
    expect(await grown(move(true))).toEqual([host.id]);
    expect(await grown(move(false))).toEqual([]);
  });

  it('no change that only placement reads', async () => {
    expect(
      await grown(() => cloud.sql`update hosts set admin_state = 'cordoned' where id = ${host.id}`),
    ).toEqual([]);
    expect(
      await grown(
        () => cloud.sql`update devices set state = 'missing' where id in
      (select id from devices where kind = 'gpu' and host_id = ${other.id}
        and id not in (select device_id from device_claims) limit 1)`,
      ),
    ).toEqual([]);
  });
});

describe('if hosts reach each other', () => {
  let host: HandDrivenHost;
  let other: HandDrivenHost;
  let stranger: HandDrivenHost;
  let network: string;
  beforeAll(async () => {
    host = await cloud.addHandDrivenHost({ gpus: 8, underlayAddress: '192.0.2.1' });
    other = await cloud.addHandDrivenHost({ underlayAddress: '192.0.2.2' });
    stranger = await cloud.addHandDrivenHost({ underlayAddress: '192.0.2.3' });
    await cloud.runVm(other);
    network = (await cloud.call('GET', '/vpc/networks')).body.items[0].id;
    await settleAll();
  });
  /** Settles what earlier tests and hosts left unfinished. */
  const settleAll = async () => {
    for (const each of [host, other, stranger]) await each.obey();
    await cloud.settleWithoutHost();
  };
  const concerned = async () =>
    (
      await cloud.sql`select distinct host_id from placements p join network_interfaces n using (vm_id)
        where n.network_id = ${network}`
    )
      .map((row) => row['host_id'] as string)
      .sort();
  const countChanges = async () => {
    const [row] = await cloud.sql<{ count: number }[]>`
      select count(*)::int from network_changes where network_id = ${network}`;
    return row?.count ?? 0;
  };
  /** Returns the hosts whose number grows, and whether schedulers learn that the network changed. */
  const effectOf = async (change: () => Promise<unknown>) => {
    const before = await countChanges();
    const hostIds = await grown(change);
    return { hostIds, isNoted: (await countChanges()) > before };
  };
  const underlaysOf = async () => {
    const members = (await readNetworkMembers(cloud.sql, [network])).get(network) ?? [];
    return members.map(({ underlay_address }) => underlay_address);
  };

  it('a VM that is placed or released changes its network, and the number of its own host alone', async () => {
    const { id } = await cloud.createVm();
    const alone = (isNoted: boolean) => ({ hostIds: [host.id], isNoted });
    expect(await effectOf(() => cloud.place(id, host))).toEqual(alone(true));
    expect(await underlaysOf()).toContain('192.0.2.1');
    expect(await effectOf(() => host.obey())).toEqual(alone(false));
    const stop = { action: 'STOP' };
    expect(await effectOf(() => cloud.request('PATCH', `/vms/${id}`, stop))).toEqual(alone(false));
    expect(await effectOf(() => host.obey())).toEqual(alone(true));
    expect(await underlaysOf()).not.toContain('192.0.2.1');
    await cloud.request('DELETE', `/vms/${id}`);
    await settleAll();
  });

  it('a new address of a VM changes its network', async () => {
    const id = await cloud.runVm(host);
    const readdress = () =>
      cloud.sql`update address_claims set address = '172.27.250.9' where network_interface_id
        in (select id from network_interfaces where vm_id = ${id})`;
    expect((await effectOf(readdress)).isNoted).toBe(true);
  });

  it('a subnet that is created or deleted grows the numbers of all hosts of the network', async () => {
    const all = await concerned();
    let subnet = '';
    const create = async () => {
      const { body } = await cloud.call('POST', '/vpc/subnets', {
        ...{ name: 'later', vpc_network_id: network, location: 'eu-north-a' },
        cidr: '172.27.129.0/24',
      });
      subnet = body.id;
    };
    expect(await grown(create)).toEqual(all);
    expect((await specsByHost()).get(other.id)?.networks?.[0]?.subnets).toContainEqual({
      ...{ cidr: '172.27.129.0/24', gatewayIpv4: '172.27.129.1' },
    });
    expect(await grown(() => cloud.call('DELETE', `/vpc/subnets/${subnet}`))).toEqual(all);
  });

  it('a new underlay address changes the networks of the host, and its number if it gains or loses one', async () => {
    const move = (address: string | null) => () =>
      cloud.sql`update hosts set underlay_address = ${address} where id = ${other.id}`;
    expect(await effectOf(move('192.0.2.20'))).toEqual({ hostIds: [], isNoted: true });
    expect(await effectOf(move('192.0.2.20'))).toEqual({ hostIds: [], isNoted: false });
    expect(await underlaysOf()).toContain('192.0.2.20');
    expect(await effectOf(move(null))).toEqual({ hostIds: [other.id], isNoted: true });
    expect(await underlaysOf()).not.toContain('192.0.2.20');
    expect(await effectOf(move('192.0.2.2'))).toEqual({ hostIds: [other.id], isNoted: true });
    expect(await underlaysOf()).toContain('192.0.2.2');
  });

  it('a host that is fenced changes the networks of its VMs', async () => {
    const lost = await cloud.addHandDrivenHost({ underlayAddress: '192.0.2.4' });
    await cloud.runVm(lost);
    expect(await underlaysOf()).toContain('192.0.2.4');
    await cloud.sql`update hosts set fenced_at = now() where id = ${lost.id}`;
    expect((await effectOf(() => fenceHosts(cloud))).isNoted).toBe(true);
    expect(await underlaysOf()).not.toContain('192.0.2.4');
  });
});
