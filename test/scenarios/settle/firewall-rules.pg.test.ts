import type { Queryable } from '@gantry/db/connect';
import { newId } from '@gantry/model/ids';
import { fenceHosts } from '@gantry/scheduler/fencing/fence-hosts';
import { endOverdueOperations } from '@gantry/scheduler/settle/end-overdue';
import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import type { HandDrivenHost } from '@gantry/testkit/hosts/hand-driven-host';
import { addHosts } from '@gantry/testkit/make/hosts';
import { afterAll, beforeAll, expect, it } from 'vitest';

let cloud: Cloud;
let networkId: string;
beforeAll(async () => {
  cloud = await startCloud();
  networkId = (await cloud.call('GET', '/vpc/networks')).body.items[0].id;
});
afterAll(() => cloud.stop());

let names = 0;
const createRule = (sources: object[] = [], vpc_network_id = networkId) =>
  cloud.request('POST', '/vpc/firewall-rules', {
    ...{ name: `rule-${++names}`, vpc_network_id, direction: 'ingress', action: 'allow' },
    ...{ protocols: ['tcp'], sources, destinations: [], destination_ports: ['22'] },
  });
const ruleAt = async (host: HandDrivenHost, id: string) =>
  (await host.spec()).firewallRules?.find((rule) => rule.id === id);
const state = async (operationId: string) => (await cloud.operation(operationId)).state;
type Overdue = { message: string; details: { hosts_pending: number; hosts: string[] } };
const failureOf = async (operationId: string) =>
  (await cloud.operation(operationId)).result as Overdue;
const ruleState = async (id: string) =>
  (await cloud.call('GET', `/vpc/firewall-rules/${id}`)).body.state;

it('a rule that concerns no host is in force at once', async () => {
  const { body } = await cloud.call('POST', '/vpc/networks', {
    name: 'empty',
    cidr: '10.9.0.0/16',
  });
  const { id, operationId } = await createRule([], body.id);
  await cloud.settleWithoutHost();
  expect(await state(operationId)).toBe('SUCCEEDED');
  expect(await ruleState(id)).toBe('active');
  const deletion = await cloud.request('DELETE', `/vpc/firewall-rules/${id}`);
  await cloud.settleWithoutHost();
  expect(await state(deletion.operationId)).toBe('SUCCEEDED');
});

it('a rule is in force when every host of the network has reported its newest change', async () => {
  const [one, two] = [await cloud.addHandDrivenHost(), await cloud.addHandDrivenHost()];
  await cloud.runVm(one);
  await cloud.runVm(two);
  const { id, operationId } = await createRule();
  expect(await ruleAt(one, id)).toMatchObject({ sources: ['0.0.0.0/0'], destinationPorts: ['22'] });
  const early = await one.done();
  await one.report({ ...early, firewallNumber: String(Number(early.firewallNumber) - 1) });
  await two.obey();
  await cloud.settleWithoutHost();
  expect(await ruleState(id)).toBe('pending');
  await one.report(early);
  await cloud.settleWithoutHost();
  expect(await state(operationId)).toBe('SUCCEEDED');

  const change = await cloud.request('PATCH', `/vpc/firewall-rules/${id}`, {
    destination_ports: ['80'],
  });
  await one.report(early);
  await two.obey();
  await cloud.settleWithoutHost();
  expect(await state(change.operationId)).toBe('IN_PROGRESS');
  await one.obey();
  await cloud.settleWithoutHost();
  expect(await state(change.operationId)).toBe('SUCCEEDED');

  const deletion = await cloud.request('DELETE', `/vpc/firewall-rules/${id}`);
  expect(await ruleAt(one, id)).toBeUndefined();
  await one.obey();
  await cloud.settleWithoutHost();
  expect(await ruleState(id)).toBe('deleting');
  await two.obey();
  await cloud.settleWithoutHost();
  expect(await state(deletion.operationId)).toBe('SUCCEEDED');
});

it('a rule past its deadline fails and names exactly the hosts that have not applied it', async () => {
  const [late, prompt] = [await cloud.addHandDrivenHost(), await cloud.addHandDrivenHost()];
  await cloud.runVm(late);
  await cloud.runVm(prompt);
  const nameOf = async ({ id }: HandDrivenHost) =>
    (await cloud.sql<{ name: string }[]>`select name from hosts where id = ${id}`)[0]?.name;
  const { id, operationId } = await createRule();
  await prompt.obey();
  const owing = (await cloud.sql`select from firewall_rule_hosts where rule_id = ${id}`).length;
  await cloud.sql`update operations set deadline_at = now() - interval '1 second' where id = ${operationId}`;
  await endOverdueOperations({ sql: cloud.sql, log: cloud.log });
  expect(await state(operationId)).toBe('FAILED');
  const result = await failureOf(operationId);
  expect(result).toMatchObject({ code: 'host_failed', details: { hosts_pending: owing } });
  expect(result.details.hosts).toContain(await nameOf(late));
  expect(result.details.hosts).not.toContain(await nameOf(prompt));
  expect(result.message).toContain(await nameOf(late));
  expect(result.message).not.toContain(await nameOf(prompt));
  expect(await ruleState(id)).toBe('pending');
});

it('a rule that very many hosts have not applied names some of them and counts the others', async () => {
  const { id, operationId } = await createRule();
  await addHosts(cloud.sql, 30);
  await cloud.sql`insert into firewall_rule_hosts (rule_id, host_id, number)
    select ${id}, id, 1 from hosts on conflict do nothing`;
  const owing = (await cloud.sql`select from firewall_rule_hosts where rule_id = ${id}`).length;
  await cloud.sql`update operations set deadline_at = now() - interval '1 second' where id = ${operationId}`;
  await endOverdueOperations({ sql: cloud.sql, log: cloud.log });
  const result = await failureOf(operationId);
  expect(result.details).toMatchObject({ hosts_pending: owing });
  expect(result.details.hosts).toHaveLength(20);
  expect(result.message).toContain(`and ${owing - 20} more`);
});

it('an endpoint means the resource that it names, and nothing after the resource is deleted', async () => {
  const [one, two] = [await cloud.addHandDrivenHost(), await cloud.addHandDrivenHost()];
  const named = await cloud.runVm(one);
  await cloud.runVm(two);
  const { id } = await createRule([{ resource_id: named }]);
  const address = (await cloud.call('GET', `/vms/${named}`)).body.network_interfaces[0].ips[0]
    .private_ipv4.address;
  expect(await ruleAt(two, id)).toMatchObject({ sources: [`${address}/32`] });
  const before = await two.number();
  await cloud.request('DELETE', `/vms/${named}`);
  await one.obey();
  expect(await cloud.vmState(named)).toBe('gone');
  expect(await ruleAt(two, id)).toMatchObject({ sources: [], destinations: ['0.0.0.0/0'] });
  expect(await two.number()).toBeGreaterThan(before);
});

it('a VM that gets its address later is included in the rules that name it', async () => {
  const [one, two] = [await cloud.addHandDrivenHost(), await cloud.addHandDrivenHost()];
  await cloud.runVm(two);
  const { id: named } = await cloud.createVm();
  const { id } = await createRule([{ resource_id: named }]);
  expect(await ruleAt(two, id)).toMatchObject({ sources: [] });
  const before = await two.number();
  await cloud.place(named, one);
  expect(await two.number()).toBe(before + 1);
  expect(await ruleAt(two, id)).toMatchObject({ sources: [expect.stringMatching(/^172\.27\./)] });
});

it('a rule and a VM created at the same moment see each other: the host of the VM gets the rule', async () => {
  const host = await cloud.addHandDrivenHost();
  const { id: vmId } = await cloud.createVm();
  const ruleId = newId();
  let placed = false;
  const { placing, early } = await cloud.sql.begin(async (tx) => {
    await tx`insert into firewall_rules (id, project_id, network_id, name, direction, action,
        protocols, sources, source_ports, destinations, destination_ports)
      values (${ruleId}, ${cloud.tenant.projectId}, ${networkId}, 'at-once', 'ingress', 'deny',
        '{tcp}', '[]', '{}', '[]', '{}')`;
    const work = cloud.place(vmId, host).then(() => {
      placed = true;
    });
    // The placement waits for the rule, or the VM was placed without it.
    await expect
      .poll(async () => placed || (await cloud.sql`select from pg_locks where not granted`).length)
      .toBeTruthy();
    return { placing: [work], early: placed ? await host.spec() : null };
  });
  await Promise.all(placing);
  const late = await host.spec();
  expect(late.firewallRules?.some(({ id }) => id === ruleId)).toBe(true);
  expect(late.number).not.toBe(early?.number);
});

it('a change of a rule that waits for one host holds the lock of no other', async () => {
  const hosts = [await cloud.addHandDrivenHost(), await cloud.addHandDrivenHost()];
  for (const host of hosts) await cloud.runVm(host);
  const { id } = await createRule();
  const [free = '', held = ''] = hosts.map((host) => host.id).sort();
  const lock = (sql: Queryable, hostId: string, how = sql``) =>
    sql`select from host_revisions where host_id = ${hostId} for update ${how}`;
  const { changing } = await cloud.sql.begin(async (tx) => {
    await lock(tx, held);
    const change =
      cloud.sql`update firewall_rules set generation = generation + 1 where id = ${id}`.execute();
    // It pauses, or it would wait for the lock.
    await expect
      .poll(
        () => cloud.sql`select from pg_stat_activity where datname = current_database()
          and query like 'update firewall_rules%' and wait_event in ('PgSleep', 'transactionid')`,
      )
      .toHaveLength(1);
    // Much shorter than the time after which PostgreSQL ends a wait for a lock.
    await expect
      .poll(() => lock(cloud.sql, free, cloud.sql`skip locked`), { timeout: 3_000 })
      .toHaveLength(1);
    return { changing: change };
  });
  await changing;
});

it('a rule does not wait for a fenced host', async () => {
  const host = await cloud.addHandDrivenHost();
  await cloud.runVm(host);
  const { id } = await createRule();
  await cloud.sql`update hosts set fenced_at = now() where id = ${host.id}`;
  await fenceHosts(cloud);
  expect(
    await cloud.sql`select from firewall_rule_hosts where rule_id = ${id} and host_id = ${host.id}`,
  ).toHaveLength(0);
});
