import { hashPassword } from '@gantry/api/auth/passwords';
import { openInterval } from '@gantry/db/queries/usage/meter';
import { closeDueDays } from '@gantry/db/queries/usage/usage';
import { newId } from '@gantry/model/ids';
import { finishVm } from '@gantry/testkit/make/finished';
import { diskBody, ruleBody, vmBody } from '@gantry/testkit/make/request-bodies';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  clientOf,
  defaultNetworkOf,
  type Fields,
  makeDisk,
  makeRule,
  makeVm,
  membersOf,
  operationOf,
  startWorld,
  TIMESTAMP,
  UUID,
  type World,
} from './support.ts';

let world: World;
let P: string;
let O: string;

beforeAll(async () => {
  world = await startWorld();
  ({ P, O } = world);
});
afterAll(() => world.api.stop());

/** The shape of every reply, for every caller. */
const shape = async (path: string) => {
  const { status, body } = await world.get(path);
  return { status, members: Array.isArray(body) ? 'array' : membersOf(body) };
};
const items = { status: 200, members: ['items'] };

describe('docs/contract/README.md: what a client can do', () => {
  it('a client can authenticate with an access key, or with tokens', async () => {
    expect((await world.get(`${P}/specs`)).status).toBe(200);
    const password = 'correct horse battery staple';
    const { id, email } = world.tenant.member;
    await world.api
      .sql`update users set password_hash = ${await hashPassword(password)} where id = ${id}`;
    const body = { grant_type: 'password', email, password };
    const { access_token } = (await world.api.call('POST', '/auth/token', { body })).body;
    expect((await clientOf(world.api, access_token).get(`${P}/specs`)).status).toBe(200);
  });
  it('a client can list organizations and projects', async () => {
    for (const path of ['/organizations', '/projects']) {
      expect(await shape(path)).toEqual({ status: 200, members: 'array' });
    }
  });
  it('a client can get a link to the billing dashboard', async () => {
    const { status, body } = await world.owner.get(`${O}/billing`);
    expect(status).toBe(200);
    expect(new URL(body.url).protocol).toMatch(/^https?:$/);
  });
  it('a client can list availability, specs and images', async () => {
    for (const path of ['availabilities', 'specs']) {
      expect(await shape(`${P}/${path}`)).toEqual(items);
    }
    const page = { status: 200, members: ['items', 'next_page_token'] };
    expect(await shape(`${P}/images`)).toEqual(page);
  });
  it('a client can create disks and VMs and follow their operations', async () => {
    for (const [path, body] of [
      ['disks', diskBody()],
      ['vms', vmBody()],
    ] as const) {
      const opened = operationOf(await world.post(`${P}/${path}`, body));
      const tracked = await world.get(`${P}/${path}/operations/${opened.operation_id}`);
      expect(tracked.body).toEqual(opened);
      expect(opened.state).toBe('IN_PROGRESS');
    }
  });
  it('a client can read a VM', async () => {
    const vmId = await makeVm(world);
    expect((await world.get(`${P}/vms/${vmId}`)).body).toMatchObject({ id: vmId });
  });
  it('a client can create and list firewall rules', async () => {
    const rules = `${P}/vpc/firewall-rules`;
    const body = ruleBody(await defaultNetworkOf(world));
    const { state, metadata } = operationOf(await world.post(rules, body));
    expect(state).toBe('IN_PROGRESS');
    const listed = (await world.get(rules)).body.items;
    expect(listed.map(({ id }: Fields) => id)).toContain(metadata.id);
  });
  it('a client can read usage', async () => {
    await openInterval(world.api.sql, {
      ...{ organizationId: world.tenant.organizationId, projectId: world.tenant.projectId },
      ...{ resourceId: newId(), region: 'eu-north', startedAt: new Date('2026-01-01T12:00:00Z') },
      metered: { metric: 'vm_seconds', vmType: 'a40.1x' },
    });
    expect((await world.get(`${O}/usage`)).body.items).toEqual([]);
    await closeDueDays(world.api.sql, new Date('2026-01-02T00:15:00Z'));
    expect((await world.get(`${O}/usage`)).body.items).toMatchObject([{ date: '2026-01-01' }]);
  });
});

describe('docs/contract/README.md#rules-for-every-endpoint: ids and timestamps', () => {
  /** Every member of every reply, as name and value. */
  const everything: [string, unknown][] = [];
  const collect = (value: unknown) => {
    if (value === null || typeof value !== 'object') return;
    for (const [name, member] of Object.entries(value)) {
      everything.push([name, member]);
      collect(member);
    }
  };
  beforeAll(async () => {
    await makeVm(world);
    await makeDisk(world);
    await makeRule(world);
    for (const path of [
      ...['', '/organizations', '/projects', `${P}/images`, `${P}/vms`, `${P}/vms/operations`],
      ...[`${P}/disks`, `${P}/disks/operations`, `${P}/vpc/firewall-rules`, `${P}/vpc/networks`],
      ...[`${P}/vpc/firewall-rules/operations`, `${P}/vpc/subnets`, `${P}/access-keys`],
      ...[`${O}/audit-logs`, `${O}/usage`, `${O}/members`],
    ]) {
      const { status, body } = await world.owner.get(path);
      expect([path, status]).toEqual([path, 200]);
      collect(body);
    }
  });
  /**
   * Returns the values of members with such a name. The minimum count proves that the test finds
   * them.
   */
  const valuesNamed = (pattern: RegExp, least: number): unknown[] => {
    const found = everything.filter(([name]) => pattern.test(name)).map(([, value]) => value);
    expect(found.length).toBeGreaterThan(least);
    return found;
  };

  it('identifiers are UUIDs', () => {
    const stated = new Set(['payment_customer_id']);
    const ids = everything.filter(([name]) => /^(id|.+_id)$/.test(name) && !stated.has(name));
    expect(ids.length).toBeGreaterThan(50);
    for (const [name, value] of ids) {
      if (value !== '') expect(value, name).toMatch(UUID);
    }
    for (const [name, value] of ids.filter(([name]) => name === 'operation_id')) {
      expect(value, name).toMatch(UUID);
    }
  });
  it('timestamps are in ISO 8601 form in UTC', () => {
    for (const value of valuesNamed(/^(created_at|updated_at|started_at|at)$/, 20)) {
      expect(value).toMatch(TIMESTAMP);
      expect(new Date(String(value)).getTime()).toBeLessThanOrEqual(Date.now() + 60_000);
    }
  });
  it('a timestamp that is not set is the empty string', () => {
    const optional = valuesNamed(/^(completed_at|expires_at|commitment_end)$/, 5);
    for (const value of optional) if (value !== '') expect(value).toMatch(TIMESTAMP);
    expect(optional).toContain('');
    expect(optional).toContainEqual(expect.stringMatching(TIMESTAMP));
  });
  it('the id of a network is the vpc_network_id of firewall rules', async () => {
    const [network] = (await world.get(`${P}/vpc/networks`)).body.items;
    expect(network.id).toMatch(UUID);
    const rule = (await world.get(`${P}/vpc/firewall-rules/${await makeRule(world)}`)).body;
    expect(rule.vpc_network_id).toBe(network.id);
  });
});

describe('docs/contract/operations.md: polling', () => {
  it('an operation can be polled until it is SUCCEEDED', async () => {
    const { operation_id, metadata } = operationOf(await world.post(`${P}/vms`, vmBody()));
    const poll = async () => (await world.get(`${P}/vms/operations/${operation_id}`)).body.state;
    expect([await poll(), await poll()]).toEqual(['IN_PROGRESS', 'IN_PROGRESS']);
    await finishVm(world.api.sql, metadata.id, 'running');
    expect([await poll(), await poll()]).toEqual(['SUCCEEDED', 'SUCCEEDED']);
  });
});

describe('docs/contract/README.md#versioning', () => {
  it('paths have the prefix /v0.1, and projects have a version', async () => {
    const [project] = (await world.get('/projects')).body;
    expect(project.version).toBe('v0.1');
    expect((await world.get('')).body.version).toBe('v0.1');
  });
});
