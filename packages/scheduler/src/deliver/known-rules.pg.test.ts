import { readHostSpecs } from '@gantry/db/queries/hosts/host-specs';
import { KnownRules } from '@gantry/db/queries/hosts/known-rules';
import { insertFirewallRule, updateFirewallRule } from '@gantry/db/queries/networks/firewall-rules';
import { readWithGenericPlan } from '@gantry/db/transact';
import { newId } from '@gantry/model/ids';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { addHost } from '@gantry/testkit/make/hosts';
import { placeVm, unplaceVms } from '@gantry/testkit/make/placements';
import { addProject } from '@gantry/testkit/make/tenants';
import { addVms } from '@gantry/testkit/make/vms';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { toHostSpec } from './host-spec.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it('a spec with rules that were read before equals one that is read as a whole, after every change', async () => {
  const { sql } = database;
  const projectId = await addProject(sql);
  const [host, other] = [await addHost(sql, { gpus: 1 }), await addHost(sql, { gpus: 1 })];
  const [first = '', named = ''] = await addVms(sql, 2, { projectId });
  await placeVm(sql, { vmId: first, hostId: host.id });
  const [network] = await sql<
    { id: string }[]
  >`select id from networks where project_id = ${projectId}`;
  const networkId = network?.id ?? '';
  const definition = (sources: { cidr?: string; resource_id?: string }[]) => ({
    ...{ name: newId(), protocols: ['tcp' as const], source_ports: ['1-9'], destinations: [] },
    sources: sources.map((endpoint) => ({ cidr: '', resource_id: '', ...endpoint })),
    destination_ports: ['80'],
  });
  const ids = { plain: newId(), naming: newId() };
  const insert = (id: string, sources: { cidr?: string; resource_id?: string }[]) =>
    insertFirewallRule(sql, {
      ...{ id, projectId, vpc_network_id: networkId, direction: 'ingress', action: 'allow' },
      ...{ at: new Date(), ...definition(sources) },
    });
  const knownRules = new KnownRules();
  const read = (known?: KnownRules) =>
    readWithGenericPlan(sql, async (tx) => {
      const [row] = await readHostSpecs(tx, [host.id], known);
      if (!row) throw new Error('BUG: the host is gone');
      return toHostSpec(row);
    });
  const steps: [string, () => Promise<unknown>][] = [
    ['a rule is added', () => insert(ids.plain, [{ cidr: '10.0.0.0/8' }])],
    ['a rule that names a VM is added', () => insert(ids.naming, [{ resource_id: named }])],
    ['the named VM gets an address', () => placeVm(sql, { vmId: named, hostId: other.id })],
    [
      'a rule changes',
      () => updateFirewallRule(sql, ids.plain, definition([{ cidr: '10.9.0.0/16' }])),
    ],
    [
      'a rule names a VM now',
      () => updateFirewallRule(sql, ids.plain, definition([{ resource_id: named }])),
    ],
    ['a rule names none any more', () => updateFirewallRule(sql, ids.plain, definition([]))],
    [
      'the named VM loses its address',
      () => sql`delete from address_claims where network_interface_id in
        (select id from network_interfaces where vm_id = ${named})`,
    ],
    [
      'a rule is removed',
      () => sql`update firewall_rules set desired_state = 'deleted' where id = ${ids.plain}`,
    ],
    ['the host leaves the network', () => unplaceVms(sql, [first])],
  ];
  let before = await read(knownRules);
  for (const [what, step] of steps) {
    await step();
    const after = await read(knownRules);
    expect(after, what).toEqual(await read());
    expect(after.firewallRules, what).not.toEqual(before.firewallRules);
    before = after;
  }
});
