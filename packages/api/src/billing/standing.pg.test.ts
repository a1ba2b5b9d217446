import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { finishVm } from '@gantry/testkit/make/finished';
import { vmBody } from '@gantry/testkit/make/request-bodies';
import { makeTenant, makeUser, type TestTenant, type TestUser } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enforceStanding } from './enforce-standing.ts';

let api: TestApi;
let operator: TestUser;

beforeAll(async () => {
  api = await startTestApi();
  operator = await makeUser(api, 'operator@gantry.test', { operator: true });
});
afterAll(() => api.stop());

const path = ({ organizationId }: TestTenant) => `/admin/organizations/${organizationId}`;
const suspend = (tenant: TestTenant, body: object, bearer = operator.token) =>
  api.call('POST', `${path(tenant)}:suspend`, { bearer, body });
const resume = (tenant: TestTenant, bearer = operator.token) =>
  api.call('POST', `${path(tenant)}:resume`, { bearer });
const standing = async (tenant: TestTenant) =>
  (
    await api.call('GET', `/organizations/${tenant.organizationId}/standing`, {
      bearer: tenant.readOnlyKey,
    })
  ).body;
const call = (tenant: TestTenant, method: string, to: string, body?: object) =>
  api.call(method, `/projects/${tenant.projectId}${to}`, {
    bearer: tenant.accessKey,
    ...(body && { body }),
  });
async function runVm(tenant: TestTenant): Promise<string> {
  const { body } = await call(tenant, 'POST', '/vms', vmBody());
  const vmId = body.operation.metadata.id;
  await finishVm(api.sql, vmId, 'running');
  return vmId;
}
const vmState = async (tenant: TestTenant, vmId: string) =>
  (await call(tenant, 'GET', `/vms/${vmId}`)).body.state;
const graceIsOver = ({ organizationId }: TestTenant) =>
  api.sql`update suspensions set stops_vms_at = now() - interval '1 second' where organization_id = ${organizationId}`;

describe('an operator', () => {
  it('suspends an organization: no new VMs, no starts, and running VMs stop after the grace period', async () => {
    const tenant = await makeTenant(api, 'suspended');
    const [running, off] = [await runVm(tenant), await runVm(tenant)];
    await api.sql`update vms set desired_state = 'stopped', observed_state = 'stopped' where id = ${off}`;
    const { status, body } = await suspend(tenant, { reason: 'terms of use', grace_hours: 2 });
    expect(status).toBe(200);
    expect(body).toEqual({
      ...{ organization_id: tenant.organizationId, standing: 'suspended', reason: 'terms of use' },
      ...{ since: expect.stringMatching(/Z$/), suspends_at: '' },
      stops_vms_at: expect.stringMatching(/Z$/),
    });
    expect(Date.parse(body.stops_vms_at) - Date.parse(body.since)).toBe(2 * 3_600_000);
    expect(await standing(tenant)).toEqual(body);

    for (const refused of [
      await call(tenant, 'POST', '/vms', vmBody()),
      await call(tenant, 'PATCH', `/vms/${off}`, { action: 'START' }),
    ]) {
      expect([refused.status, refused.body.code]).toEqual([403, 'forbidden']);
      expect(refused.body.message).toContain('terms of use');
    }
    await enforceStanding(api.deps);
    expect(await vmState(tenant, running)).toBe('STATE_RUNNING');
    await graceIsOver(tenant);
    await Promise.all([enforceStanding(api.deps), enforceStanding(api.deps)]);
    expect(await vmState(tenant, running)).toBe('STATE_STOPPING');
    expect(
      await api.sql`select name, state from operations where resource_id = ${running} and name = 'STOP'`,
    ).toEqual([{ name: 'STOP', state: 'IN_PROGRESS' }]);
    expect((await call(tenant, 'DELETE', `/vms/${off}`)).status).toBe(200);
  });

  it('resumes it: it can start VMs again, and stopped VMs stay stopped', async () => {
    const tenant = await makeTenant(api, 'resumed');
    const vmId = await runVm(tenant);
    await suspend(tenant, { reason: 'a mistake', grace_hours: 0 });
    await enforceStanding(api.deps);
    await api.sql`update operations set state = 'SUCCEEDED', completed_at = now() where resource_id = ${vmId} and state = 'IN_PROGRESS'`;
    await api.sql`update vms set observed_state = 'stopped', observed_generation = generation where id = ${vmId}`;
    const { status, body } = await resume(tenant);
    expect([status, body.standing]).toEqual([200, 'good']);
    await enforceStanding(api.deps);
    expect(await vmState(tenant, vmId)).toBe('STATE_SHUTOFF');
    expect((await call(tenant, 'PATCH', `/vms/${vmId}`, { action: 'START' })).status).toBe(200);
    const again = await resume(tenant);
    expect([again.status, again.body.code]).toEqual([409, 'conflict']);
    const types = (
      await api.sql`select type from events where resource_id = ${vmId} order by created_at, id`
    ).map(({ type }) => type);
    expect(types).toEqual(['vm_organization_suspended', 'vm_organization_resumed']);
    const lines = await api.sql`select action, actor from audit_logs
      where organization_id = ${tenant.organizationId} and action like 'admin-organizations.%' and status = 200 order by id`;
    expect(lines).toEqual([
      { action: 'admin-organizations.suspend', actor: operator.email },
      { action: 'admin-organizations.resume', actor: operator.email },
    ]);
  });

  it.each([
    [{}, 'reason'],
    [{ reason: '' }, 'reason'],
    [{ reason: 'x', grace_hours: -1 }, 'grace_hours'],
    [{ reason: 'x', grace_hours: 721 }, 'grace_hours'],
    [{ reason: 'x', grace_hours: 1.5 }, 'grace_hours'],
    [{ reason: 'x', until: 'never' }, 'until'],
  ])('is refused for %j with an error that names the field', async (body, field) => {
    const tenant = await makeTenant(api, `refused-${Math.random()}`);
    const reply = await suspend(tenant, body);
    expect([reply.status, reply.body.details?.[0]?.field]).toEqual([400, field]);
    expect((await standing(tenant)).standing).toBe('good');
  });
});

describe('a tenant', () => {
  it('cannot suspend or resume, and a suspension concerns no other tenant', async () => {
    const [tenant, other] = [await makeTenant(api, 'owner-of'), await makeTenant(api, 'neighbour')];
    expect((await suspend(tenant, { reason: 'x' }, tenant.owner.token)).status).toBe(403);
    expect((await resume(tenant, tenant.owner.token)).status).toBe(403);
    await suspend(tenant, { reason: 'x', grace_hours: 0 });
    const vmId = await runVm(other);
    await enforceStanding(api.deps);
    expect(await vmState(other, vmId)).toBe('STATE_RUNNING');
  });
});
