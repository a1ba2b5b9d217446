import { connect, type Sql } from '@gantry/db/connect';
import { readHostSpecs } from '@gantry/db/queries/hosts/host-specs';
import { toHostSpec } from '@gantry/scheduler/deliver/host-spec';
import { endOverdueOperations } from '@gantry/scheduler/settle/end-overdue';
import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import { pick } from '@gantry/testkit/database/concurrent-writers';
import { isLateConnection } from '@gantry/testkit/database/other-process';
import type { HandDrivenHost } from '@gantry/testkit/hosts/hand-driven-host';
import { afterAll, beforeAll, expect, it } from 'vitest';

let cloud: Cloud;
let reader: Sql;
beforeAll(async () => {
  cloud = await startCloud();
  reader = connect({ url: cloud.api.databaseUrl, name: 'reader', maxConnections: 2 });
});
afterAll(async () => {
  await reader.end({ timeout: 5 });
  await cloud.stop();
});

/** The number of accepted writes, large enough that every two kinds overlap. */
const WRITES = 60;

it('writers, hosts and schedulers never deadlock, and a spec number always has the same content', async () => {
  const hosts: HandDrivenHost[] = [];
  for (let i = 0; i < 3; i += 1)
    hosts.push(
      await cloud.addHandDrivenHost({
        gpus: 8,
        sharedStorage: true,
        underlayAddress: `192.0.2.${i + 1}`,
      }),
    );
  const vmIds: string[] = [];
  for (const host of hosts) for (let i = 0; i < 3; i += 1) vmIds.push(await cloud.runVm(host));
  const diskIds: string[] = [];
  for (let i = 0; i < 4; i += 1) diskIds.push(await cloud.createDisk());
  const network = (await cloud.call('GET', '/vpc/networks')).body.items[0].id;
  const ruleIds: string[] = [];
  for (let i = 0; i < 3; i += 1)
    ruleIds.push(
      (
        await cloud.request('POST', '/vpc/firewall-rules', {
          ...{ name: `busy-${i}`, vpc_network_id: network, direction: 'ingress', action: 'allow' },
          ...{ protocols: ['tcp'], sources: [{ resource_id: vmIds[i] }], destinations: [] },
        })
      ).id,
    );

  const problems: unknown[] = [];
  const seen = new Map<string, string>();
  let size = 10;
  let writes = 0;
  let subnets = 0;
  const loop = async (body: () => Promise<unknown>) => {
    while (writes < WRITES && problems.length === 0) {
      try {
        await body();
      } catch (error) {
        if (!isLateConnection(error)) problems.push(error);
      }
      await new Promise(setImmediate);
    }
  };
  const write = async (method: string, path: string, body?: unknown) => {
    const reply = await cloud.call(method, path, body);
    if (reply.status === 200) writes += 1;
    if (reply.status >= 500) problems.push({ method, path, ...reply });
  };
  const mode = () => pick(['read-only', 'read-write']);
  /** Writes as an inventory does. */
  const moveHost = async () => {
    const { id } = pick(hosts);
    const address = pick([null, `192.0.2.${10 + Math.floor(Math.random() * 200)}`]);
    await cloud.sql.begin(async (tx) => {
      await tx`select from hosts where id = ${id} for no key update`;
      await tx`select from networks where id in (select n.network_id from network_interfaces n
        join placements p on p.vm_id = n.vm_id where p.host_id = ${id}) order by id for no key update`;
      await tx`update hosts set underlay_address = ${address} where id = ${id}`;
    });
  };
  const changeSubnets = async () => {
    const { status, body } = await cloud.call('POST', '/vpc/subnets', {
      ...{ name: `busy-${++subnets}`, vpc_network_id: network },
      ...{ location: 'eu-north-a', cidr: '172.27.128.0/24' },
    });
    if (status !== 200) return problems.push({ status, body });
    await write('DELETE', `/vpc/subnets/${body.id ?? body.operation.metadata.id}`);
  };

  const writers = [
    () => write('PATCH', `/vms/${pick(vmIds)}`, { action: pick(['RESET', 'STOP', 'START']) }),
    () =>
      write('POST', `/vms/${pick(vmIds)}/attach-disks`, {
        attach_disks: [{ disk_id: pick(diskIds), mode: mode(), attachment_type: 'data' }],
      }),
    () => write('POST', `/vms/${pick(vmIds)}/detach-disks`, { detach_disks: [pick(diskIds)] }),
    () => {
      size += 1;
      return write('PATCH', `/disks/${pick(diskIds)}`, { size: `${size}GiB` });
    },
    () =>
      write('PATCH', `/vpc/firewall-rules/${pick(ruleIds)}`, {
        sources: [{ resource_id: pick(vmIds) }],
      }),
    async () => {
      const { id } = await cloud.createVm();
      await cloud.place(id, pick(hosts)).catch(ignoreFullHost);
      await write('DELETE', `/vms/${id}`);
    },
  ];
  const placeUnplaced = async () => {
    const [vm] = await cloud.sql`select id from vms where not placed and desired_state = 'running'
      and not abandoned and observed_generation < generation limit 1`;
    if (vm) await cloud.place(vm['id'], pick(hosts)).catch(ignoreFullHost);
  };
  const readSpecs = async () => {
    for (const row of await readHostSpecs(
      reader,
      hosts.map(({ id }) => id),
    )) {
      const key = `${row.host_id} ${row.number}`;
      // The operations of VMs are sent beside a spec, and change without a new number.
      const content = JSON.stringify({ ...toHostSpec(row), operations: [] }, null, 1);
      const before = seen.get(key);
      if (before !== undefined && before !== content)
        problems.push(linesOf({ key, before, content }));
      seen.set(key, content);
    }
  };
  await Promise.all(
    [
      ...writers,
      ...hosts.map((host) => () => host.obey()),
      () => cloud.settleWithoutHost(),
      () => endOverdueOperations(cloud),
      placeUnplaced,
      moveHost,
      changeSubnets,
      readSpecs,
      readSpecs,
    ].map(loop),
  );
  expect(problems).toEqual([]);
  expect(seen.size).toBeGreaterThan(WRITES / 2);
});

/** Another VM was placed at the same time: the device or the VM already has its row. */
function ignoreFullHost(error: unknown): void {
  if ((error as { code?: string }).code !== '23505') throw error;
}

/** Returns where two specs with the same number differ. */
function linesOf({ key, before, content }: { key: string; before: string; content: string }) {
  const [was, is] = [before.split('\n'), content.split('\n')];
  return {
    key,
    was: was.filter((line) => !is.includes(line)),
    is: is.filter((line) => !was.includes(line)),
  };
}
