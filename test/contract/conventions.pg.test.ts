import { finishRule, finishVm } from '@gantry/testkit/make/finished';
import { diskBody, newName, ruleBody, vmBody } from '@gantry/testkit/make/request-bodies';
import { makeTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  attachDisk,
  clientOf,
  defaultNetworkOf,
  type Fields,
  giveAddresses,
  IPV4,
  makeDisk,
  makeRule,
  makeVm,
  membersOf,
  type OpenApi,
  operationOf,
  readOpenApi,
  schemaOf,
  startWorld,
  UUID,
  valuesOf,
  type World,
} from './support.ts';

let world: World;
let document: OpenApi;
let networkId: string;

beforeAll(async () => {
  world = await startWorld();
  document = await readOpenApi(world.api);
  networkId = await defaultNetworkOf(world);
});
afterAll(() => world.api.stop());

const createRule = (changes: Fields) =>
  world.post(`${world.P}/vpc/firewall-rules`, ruleBody(networkId, changes));
const readVm = async (vmId: string) => (await world.get(`${world.P}/vms/${vmId}`)).body;

describe('docs/contract: conventions', () => {
  it('metadata has operation_name, id, type and request', async () => {
    const operation = operationOf(await world.post(`${world.P}/vms`, vmBody()));
    expect(membersOf(operation.metadata)).toEqual(['id', 'operation_name', 'request', 'type']);
    const described = schemaOf(document, 'Operation').properties?.['metadata'];
    expect(described?.required?.toSorted()).toEqual(['id', 'operation_name', 'request', 'type']);
  });

  it('metadata.id is set from the first reply on', async () => {
    const opened = operationOf(await world.post(`${world.P}/vms`, vmBody()));
    expect(opened).toMatchObject({
      state: 'IN_PROGRESS',
      metadata: { id: expect.stringMatching(UUID) },
    });
    expect(await readVm(opened.metadata.id)).toMatchObject({ id: opened.metadata.id });
  });

  it('metadata.type and metadata.operation_name have the documented values', async () => {
    const { P, api } = world;
    const seen = new Set<string>();
    const note = (reply: Parameters<typeof operationOf>[0], expected: string) => {
      const { metadata } = operationOf(reply);
      expect(`${metadata.type} ${metadata.operation_name}`).toBe(expected);
      seen.add(metadata.operation_name);
      return metadata.id;
    };
    const vmId = note(await world.post(`${P}/vms`, vmBody()), 'vm CREATE');
    await finishVm(api.sql, vmId, 'running');
    const act = async (action: string, becomes: 'running' | 'stopped') => {
      note(await world.patch(`${P}/vms/${vmId}`, { action }), `vm ${action}`);
      await finishVm(api.sql, vmId, becomes);
    };
    await act('RESET', 'running');
    await act('STOP', 'stopped');
    await act('START', 'running');
    const rename = { action: 'UPDATE', name: newName() };
    note(await world.patch(`${P}/vms/${vmId}`, rename), 'vm UPDATE');
    const diskId = await makeDisk(world);
    const attach = {
      attach_disks: [{ disk_id: diskId, mode: 'read-write', attachment_type: 'data' }],
    };
    note(await world.post(`${P}/vms/${vmId}/attach-disks`, attach), 'vm ATTACH_DISKS');
    await finishVm(api.sql, vmId, 'running');
    const detach = { detach_disks: [diskId] };
    note(await world.post(`${P}/vms/${vmId}/detach-disks`, detach), 'vm DETACH_DISKS');
    await finishVm(api.sql, vmId, 'running');
    note(await world.delete(`${P}/vms/${vmId}`), 'vm DELETE');

    note(await world.post(`${P}/disks`, diskBody()), 'disk CREATE');
    note(await world.patch(`${P}/disks/${diskId}`, { size: '1TiB' }), 'disk UPDATE');
    note(await world.delete(`${P}/disks/${await makeDisk(world)}`), 'disk DELETE');
    note(await createRule({}), 'vpc-firewall-rule CREATE');
    const rule = `${P}/vpc/firewall-rules/${await makeRule(world)}`;
    note(await world.patch(rule, { name: newName() }), 'vpc-firewall-rule UPDATE');
    const removed = `${P}/vpc/firewall-rules/${await makeRule(world)}`;
    note(await world.delete(removed), 'vpc-firewall-rule DELETE');

    const names = schemaOf(document, 'Operation').properties?.['metadata']?.properties;
    expect(names?.['operation_name']?.['enum']).toEqual(expect.arrayContaining([...seen]));
    expect(seen.size).toBe(8);
    // Operators move VMs, and snapshots need a storage cluster.
    expect(names?.['operation_name']?.['enum']).toHaveLength(seen.size + 2);
    expect(names?.['operation_name']?.['enum']).toEqual(
      expect.arrayContaining(['MOVE', 'RESTORE']),
    );
    expect(names?.['type']?.['enum']).toEqual([
      ...['vm', 'disk', 'vpc-firewall-rule', 'snapshot', 'backup', 'image'],
    ]);
  });

  it('the echo of a rule request spells direction and action in capitals', async () => {
    for (const direction of ['ingress', 'egress']) {
      for (const action of ['allow', 'deny']) {
        const { metadata } = operationOf(await createRule({ direction, action }));
        expect(metadata.request).toMatchObject({
          direction: `DIRECTION_${direction.toUpperCase()}`,
          action: `ACTION_${action.toUpperCase()}`,
        });
        const { body } = await world.get(`${world.P}/vpc/firewall-rules/${metadata.id}`);
        expect(body).toMatchObject({ direction, action });
      }
    }
    expect(valuesOf(document, 'FirewallRule', 'direction')).toEqual(['egress', 'ingress']);
    expect(valuesOf(document, 'FirewallRule', 'action')).toEqual(['allow', 'deny']);
  });

  it('organizations and projects are bare arrays, and every other list has items', async () => {
    const { P, O } = world;
    for (const path of ['/organizations', '/projects']) {
      expect((await world.get(path)).body).toBeInstanceOf(Array);
    }
    for (const path of [
      ...[
        '/locations',
        `${P}/availabilities`,
        `${P}/specs`,
        `${P}/images`,
        `${P}/vms`,
        `${P}/disks`,
      ],
      ...[`${P}/vms/operations`, `${P}/disks/operations`, `${P}/vpc/firewall-rules/operations`],
      ...[`${P}/vpc/firewall-rules`, `${P}/vpc/networks`, `${P}/vpc/subnets`, `${P}/access-keys`],
      ...[`${O}/usage`, `${O}/audit-logs`, `${O}/members`],
    ]) {
      const { body } = await world.owner.get(path);
      expect(body.items, path).toBeInstanceOf(Array);
      expect(membersOf(body).filter((member) => member !== 'next_page_token')).toEqual(['items']);
    }
  });

  it('missing ports mean every port', async () => {
    const { source_ports: _s, destination_ports: _d, ...without } = ruleBody(networkId);
    const bare = operationOf(await world.post(`${world.P}/vpc/firewall-rules`, without));
    const empty = operationOf(await createRule({ source_ports: [], destination_ports: [] }));
    for (const { metadata } of [bare, empty]) {
      const { body } = await world.get(`${world.P}/vpc/firewall-rules/${metadata.id}`);
      expect(body).toMatchObject({ source_ports: [], destination_ports: [] });
    }
  });

  it('every success is status 200, also a creation', async () => {
    const { P } = world;
    const replies = [
      ...[await world.post(`${P}/vms`, vmBody()), await world.post(`${P}/disks`, diskBody())],
      ...[await createRule({}), await world.post(`${P}/access-keys`, { name: newName() })],
      await world.post(`${P}/vpc/networks`, { name: newName(), cidr: '10.20.0.0/16' }),
      await world.owner.post('/organizations', { name: newName() }),
    ];
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
  });

  it('ssh_destination is the public address, else the private one, else empty', async () => {
    const vmId = await makeVm(world);
    expect((await readVm(vmId)).ssh_destination).toBe('');
    await giveAddresses(world, { vmId, privateIp: '172.27.0.40' });
    expect((await readVm(vmId)).ssh_destination).toBe('172.27.0.40');
    await giveAddresses(world, { vmId, publicIp: '203.0.113.40' });
    expect((await readVm(vmId)).ssh_destination).toBe('203.0.113.40');
    expect((await readVm(vmId)).ssh_destination).toMatch(IPV4);
  });

  it('the OS disk has block size 0, and NVMe drives are not listed in disks', async () => {
    // The type has eight NVMe drives.
    const vmId = await makeVm(world, { type: 'a40.8x' });
    const osDisk = {
      ...{ block_size: 0, type: 'persistent-ssd', attachment_type: 'os', mode: 'read-write' },
    };
    expect((await readVm(vmId)).disks).toMatchObject([osDisk]);
    await attachDisk(world, { vmId, diskId: await makeDisk(world) });
    expect((await readVm(vmId)).disks).toMatchObject([osDisk, { attachment_type: 'data' }]);
  });

  it('an access key sees its project and its organization; a token sees what its user belongs to', async () => {
    const { tenant, api } = world;
    const other = await makeTenant(api, 'other');
    const second = { name: newName(), organization_id: tenant.organizationId };
    const project = (await world.owner.post('/projects', second)).body;
    const idsOf = async (bearer: string) => {
      const { get } = clientOf(api, bearer);
      const ids = async (path: string) => (await get(path)).body.map(({ id }: Fields) => id).sort();
      return { organizations: await ids('/organizations'), projects: await ids('/projects') };
    };
    const own = { organizations: [tenant.organizationId], projects: [tenant.projectId] };
    expect(await idsOf(tenant.accessKey)).toEqual(own);
    expect(await idsOf(tenant.readOnlyKey)).toEqual(own);
    expect(await idsOf(tenant.member.token)).toEqual(own);
    const owner = await idsOf(tenant.owner.token);
    expect(owner.projects).toEqual([tenant.projectId, project.id].sort());
    expect(owner.organizations).toContain(tenant.organizationId);
    expect(owner.organizations).not.toContain(other.organizationId);
    await api.sql`insert into members (id, user_id, organization_id, project_id, role) values
      (gen_random_uuid(), ${tenant.member.id}, ${other.organizationId}, ${other.projectId}, 'read-only')`;
    api.deps.callers.forget();
    expect(await idsOf(tenant.member.token)).toEqual({
      organizations: [tenant.organizationId, other.organizationId].sort(),
      projects: [tenant.projectId, other.projectId].sort(),
    });
  });

  it('an unset timestamp, id or cidr is the empty string, and only result can be null', async () => {
    const opened = operationOf(await world.post(`${world.P}/vms`, vmBody()));
    expect(opened).toMatchObject({ completed_at: '', result: null });
    const vm = await readVm(opened.metadata.id);
    expect(vm).toMatchObject({
      ...{ commitment_end: '', instance_template_id: '', instance_group_id: '' },
      ...{ reservation_id: '', ssh_destination: '' },
    });
    expect(vm.network_interfaces[0].ips).toMatchObject([
      { private_ipv4: { address: '' }, public_ipv4: { address: '', id: '' } },
    ]);
    const rule = operationOf(await createRule({ sources: [{}], destinations: [{}] }));
    await finishRule(world.api.sql, rule.metadata.id);
    const { body } = await world.get(`${world.P}/vpc/firewall-rules/${rule.metadata.id}`);
    const anywhere = [{ resource_id: '', cidr: '' }];
    expect(body).toMatchObject({ sources: anywhere, destinations: anywhere });
    const key = (await world.post(`${world.P}/access-keys`, { name: newName() })).body;
    expect(key.expires_at).toBe('');

    expect(nullables(document.components.schemas)).toEqual(['Operation.properties.result']);
    expect(nullables(document.paths)).toEqual([]);
  });
});

/** Returns the paths at which a schema allows null. */
function nullables(schema: unknown, path: string[] = []): string[] {
  if (schema === null || typeof schema !== 'object') return [];
  const types = [(schema as Fields)['type']].flat();
  const here = types.includes('null') ? [path.join('.')] : [];
  return here.concat(
    ...Object.entries(schema).map(([key, value]) => nullables(value, [...path, key])),
  );
}
