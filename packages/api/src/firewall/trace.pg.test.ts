import { newId } from '@gantry/model/ids';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { finishRule } from '@gantry/testkit/make/finished';
import { makeTenant, SSH_PUBLIC_KEY, type TestTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const WEB = '172.27.0.10';
const APP = '172.27.0.11';
const JOB = '172.27.0.12';
const WEB_PUBLIC = '203.0.113.10';
const APP_PUBLIC = '203.0.113.11';
const OUTSIDE = '192.0.2.7';

let api: TestApi;
let tenant: TestTenant;
let stranger: TestTenant;
let project: string;
let networkId: string;
let web: string;
let app: string;
let job: string;
/** A VM that was never placed. */
let unborn: string;
let foreignVm: string;

beforeAll(async () => {
  api = await startTestApi();
  tenant = await makeTenant(api, 'acme');
  stranger = await makeTenant(api, 'other');
  project = `/projects/${tenant.projectId}`;
  networkId = (await call('GET', `${project}/vpc/networks`)).body.items[0].id;
  web = await makeVm('web', { address: WEB, publicAddress: WEB_PUBLIC });
  app = await makeVm('app', { address: APP, publicAddress: APP_PUBLIC });
  job = await makeVm('job', { address: JOB });
  unborn = await makeVm('unborn');
  // Another tenant may have the same address in its own network.
  foreignVm = await makeVm('foreign', { address: WEB, owner: stranger });
});
afterAll(() => api.stop());

const call = (method: string, path: string, body?: unknown, bearer = tenant.accessKey) =>
  api.call(method, path, body === undefined ? { bearer } : { bearer, body });
const trace = (body: object, bearer = tenant.accessKey) =>
  call('POST', `${project}/vpc/firewall-rules:trace`, body, bearer);
const ssh = (from: string, to: string) => trace({ from, to, protocol: 'tcp', port: 22 });

type Given = { address?: string; publicAddress?: string; owner?: TestTenant };

async function makeVm(name: string, { address, publicAddress, owner = tenant }: Given = {}) {
  const reply = await call(
    'POST',
    `/projects/${owner.projectId}/vms`,
    {
      name,
      type: 'a40.1x',
      location: 'eu-north-a',
      image: 'debian-12',
      ssh_public_key: SSH_PUBLIC_KEY,
    },
    owner.accessKey,
  );
  const vmId: string = reply.body.operation.metadata.id;
  const { sql } = api;
  if (address !== undefined) {
    await sql`insert into address_claims (network_interface_id, subnet_id, address)
      select id, subnet_id, ${address} from network_interfaces where vm_id = ${vmId}`;
  }
  if (publicAddress !== undefined) {
    await sql`insert into public_addresses (id, location, address, network_interface_id)
      select ${newId()}, 'eu-north-a', ${publicAddress}, id from network_interfaces where vm_id = ${vmId}`;
  }
  return vmId;
}

/** Runs a test with a rule that is active, and deletes the rule after it. */
async function withRule(rule: object, test: (ruleId: string) => Promise<void>): Promise<void> {
  const path = `${project}/vpc/firewall-rules`;
  const made = await call('POST', path, {
    name: 'tested',
    vpc_network_id: networkId,
    action: 'deny',
    direction: 'ingress',
    protocols: ['tcp'],
    sources: [],
    destinations: [],
    ...rule,
  });
  const { id } = made.body.operation.metadata;
  await finishRule(api.sql, id);
  try {
    await test(id);
  } finally {
    await call('DELETE', `${path}/${id}`);
    await finishRule(api.sql, id);
  }
}

const shortly = ({ status, body }: { status: number; body: Record<string, unknown> }) => [
  ...[status, body['allowed'], body['reason']],
  ...(body['steps'] as { direction: string; rule_name: string }[]).map(
    ({ direction, rule_name }) => `${direction} ${rule_name}`,
  ),
];

describe('tracing a packet', () => {
  it('names the rules that allow it to leave one VM and to enter another', async () => {
    const { status, body } = await ssh(app, web);
    expect(status).toBe(200);
    const step = { vpc_network_id: networkId, source: APP, destination: WEB, allowed: true };
    const rule_id = expect.stringMatching(/^[0-9a-f-]{36}$/);
    const rule = { rule_id, rule_state: 'active' };
    expect(body).toEqual({
      allowed: true,
      reason: 'allowed',
      settled: true,
      steps: [
        { ...step, ...rule, direction: 'egress', rule_name: 'default-allow-egress' },
        { ...step, ...rule, direction: 'ingress', rule_name: expect.stringMatching(/^default-/) },
      ],
    });
  });

  it('gives the same result for addresses as for ids, and changes nothing', async () => {
    const before = await call('GET', `${project}/vpc/firewall-rules`);
    expect((await ssh(APP, WEB)).body).toEqual((await ssh(app, web)).body);
    expect((await ssh(app.toUpperCase(), WEB)).body).toEqual((await ssh(app, web)).body);
    expect((await call('GET', `${project}/vpc/firewall-rules`)).body).toEqual(before.body);
  });

  it('names the rule that denies, by VM, subnet and network, and shows if no rule allows', async () => {
    const subnets = await call('GET', `${project}/vpc/subnets`);
    const subnet = subnets.body.items.find(({ cidr }: { cidr: string }) =>
      cidr.startsWith(WEB.slice(0, 8)),
    );
    for (const resource_id of [app, subnet.id, networkId]) {
      await withRule({ sources: [{ resource_id }], destination_ports: ['22'] }, async (id) => {
        const { body } = await ssh(app, web);
        expect(body).toMatchObject({ allowed: false, reason: 'denied_by_rule' });
        expect(body.steps[1]).toMatchObject({ allowed: false, rule_id: id, rule_name: 'tested' });
        expect((await ssh(OUTSIDE, web)).body.allowed).toBe(true);
      });
    }
    const reply = await trace({ from: OUTSIDE, to: web, protocol: 'tcp', port: 80 });
    expect(reply.body).toMatchObject({ allowed: false, reason: 'no_rule_allows' });
    expect(reply.body.steps).toMatchObject([{ rule_id: '', rule_name: '', rule_state: '' }]);
  });

  it('follows public addresses in both directions', async () => {
    const out = await trace({ from: job, to: OUTSIDE, protocol: 'udp', port: 53 });
    expect(shortly(out)).toEqual([200, true, 'allowed', 'egress default-allow-egress']);
    const enter = [200, true, 'allowed', 'ingress default-allow-ssh'];
    expect(shortly(await ssh(OUTSIDE, web))).toEqual(enter);
    expect(shortly(await ssh(OUTSIDE, WEB_PUBLIC))).toEqual(enter);
    expect(shortly(await ssh(OUTSIDE, WEB))).toEqual([200, false, 'no_route']);
    expect(shortly(await ssh(OUTSIDE, job))).toEqual([200, false, 'no_route']);
    expect((await ssh(app, WEB_PUBLIC)).body.steps).toMatchObject([
      { source: APP, destination: WEB_PUBLIC },
      { source: APP_PUBLIC, destination: WEB },
    ]);
    expect(await ssh(job, WEB_PUBLIC)).toMatchObject({ status: 409, body: { code: 'conflict' } });
  });

  it('considers source ports, if they are given, and gateways', async () => {
    await withRule({ source_ports: ['1-1023'] }, async () => {
      const question = { from: app, to: web, protocol: 'tcp', port: 22 };
      expect((await trace(question)).body.allowed).toBe(true);
      expect((await trace({ ...question, source_port: 1023 })).body.allowed).toBe(false);
    });
    const gateway = await trace({ from: app, to: '172.27.0.1', protocol: 'icmp' });
    expect(shortly(gateway)).toEqual([200, true, 'answered_by_gateway']);
  });

  it('treats a rule that is not applied yet as active, and reports that it is not settled', async () => {
    const path = `${project}/vpc/firewall-rules`;
    const made = await call('POST', path, {
      name: 'coming',
      vpc_network_id: networkId,
      action: 'deny',
      direction: 'egress',
      protocols: ['tcp'],
      sources: [],
      destinations: [{ resource_id: web }],
    });
    const { id } = made.body.operation.metadata;
    const coming = await ssh(app, web);
    expect(coming.body).toMatchObject({ allowed: false, settled: false });
    expect(coming.body.steps[0]).toMatchObject({ rule_id: id, rule_state: 'pending' });
    await finishRule(api.sql, id);
    expect((await ssh(app, web)).body).toMatchObject({ allowed: false, settled: true });
    await call('DELETE', `${path}/${id}`);
    expect((await ssh(app, web)).body).toMatchObject({ allowed: true, settled: false });
    await finishRule(api.sql, id);
    expect((await ssh(app, web)).body).toMatchObject({ allowed: true, settled: true });
  });

  it('is allowed for everyone who may read the project, and for no one else', async () => {
    const question = { from: app, to: web, protocol: 'icmp' };
    expect((await trace(question, tenant.readOnlyKey)).status).toBe(200);
    expect((await trace(question, stranger.accessKey)).status).toBe(404);
  });
});

describe('a trace that is impossible', () => {
  const good = () => ({ from: app, to: web, protocol: 'tcp', port: 22 });
  it.each([
    ['from', { from: 'web' }],
    ['from', { from: undefined }],
    ['to', { to: '10.0.0.0/8' }],
    ['to', { to: '::1' }],
    ['to', { to: 7 }],
    ['to', () => ({ to: app })],
    ['to', { to: APP }],
    ['to', () => ({ to: foreignVm })],
    ['to', { to: newId() }],
    ['to', { to: '169.254.169.254' }],
    ['from', { from: OUTSIDE, to: OUTSIDE }],
    ['protocol', { protocol: 'sctp' }],
    ['protocol', { protocol: undefined }],
    ['port', { port: undefined }],
    ['port', { port: 0 }],
    ['port', { port: 65_536 }],
    ['port', { port: '22' }],
    ['port', { protocol: 'icmp' }],
    ['source_port', { protocol: 'icmp', port: undefined, source_port: 1 }],
    ['direction', { direction: 'ingress' }],
  ])('is refused for its %s: %j', async (field, change) => {
    const changed = typeof change === 'function' ? change() : change;
    const { status, body } = await trace({ ...good(), ...changed });
    expect([status, body.details?.[0]?.field]).toEqual([400, field]);
  });

  it('is refused for a VM without an address', async () => {
    const { status, body } = await ssh(app, unborn);
    expect([status, body.code]).toEqual([409, 'conflict']);
    expect(body.message).toContain('"to"');
  });

  it('is refused alike for a VM of others and for an unknown VM', async () => {
    const [theirs, none] = [await ssh(app, foreignVm), await ssh(app, newId())];
    expect({ ...theirs.body, error_id: '' }).toEqual({ ...none.body, error_id: '' });
  });

  it('is not a verb of other resources', async () => {
    const { status } = await call('POST', `${project}/vpc/networks:trace`, good());
    expect(status).toBe(404);
    expect((await call('POST', `${project}/vpc/anything`, good())).status).toBe(404);
  });
});
