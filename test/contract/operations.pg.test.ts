import {
  failOperation,
  finishDisk,
  finishRule,
  finishVm,
  finishVmDeletion,
} from '@gantry/testkit/make/finished';
import { diskBody, newName, ruleBody, vmBody } from '@gantry/testkit/make/request-bodies';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  defaultNetworkOf,
  expectRefusal,
  type Fields,
  makeDisk,
  makeRule,
  makeVm,
  membersOf,
  type Operation,
  operationOf,
  startWorld,
  TIMESTAMP,
  UUID,
  type World,
} from './support.ts';

let world: World;
let networkId: string;
/** The operation of a VM creation, before and after its end. */
let opened: Operation;
let succeeded: Operation;
let vm: Fields;

const operation = async (path: string, { operation_id }: Operation): Promise<Operation> =>
  (await world.get(`${world.P}/${path}/operations/${operation_id}`)).body;

beforeAll(async () => {
  world = await startWorld();
  networkId = await defaultNetworkOf(world);
  opened = operationOf(await world.post(`${world.P}/vms`, vmBody()));
  await finishVm(world.api.sql, opened.metadata.id, 'running');
  succeeded = await operation('vms', opened);
  vm = (await world.get(`${world.P}/vms/${opened.metadata.id}`)).body;
});
afterAll(() => world.api.stop());

/** Each kind of creation, and what the scheduler does for it. */
const creations = () => [
  { path: 'vms', body: vmBody(), finish: (id: string) => finishVm(world.api.sql, id, 'running') },
  { path: 'disks', body: diskBody(), finish: (id: string) => finishDisk(world.api.sql, id) },
  {
    ...{ path: 'vpc/firewall-rules', body: ruleBody(networkId) },
    finish: (id: string) => finishRule(world.api.sql, id),
  },
];

describe('docs/contract/operations.md#the-operation-object', () => {
  it('an operation has the documented fields and no others', () => {
    for (const shown of [opened, succeeded]) {
      expect(membersOf(shown)).toEqual(
        ['operation_id', 'state', 'metadata', 'result', 'started_at', 'completed_at'].sort(),
      );
    }
  });
  it('operation_id is a UUID', () => {
    expect(opened.operation_id).toMatch(UUID);
    expect(succeeded.operation_id).toBe(opened.operation_id);
  });
  it('state is a string', () =>
    expect([opened.state, succeeded.state]).toEqual(['IN_PROGRESS', 'SUCCEEDED']));
  it('metadata is an object', () => {
    expect(membersOf(opened.metadata)).toEqual(['id', 'operation_name', 'request', 'type']);
    const { ssh_public_key, ...kept } = opened.metadata.request;
    expect(ssh_public_key).toBeTypeOf('string');
    expect(succeeded.metadata).toEqual({ ...opened.metadata, request: kept });
  });
  it('result is null while the operation is in progress, and then the resource', () => {
    expect(opened.result).toBeNull();
    expect(succeeded.result).toEqual(vm);
  });
  it('started_at is a timestamp', () => {
    expect(opened.started_at).toMatch(TIMESTAMP);
    expect(succeeded.started_at).toBe(opened.started_at);
  });
  it('completed_at is empty while the operation is in progress', () => {
    expect(opened.completed_at).toBe('');
    expect(succeeded.completed_at).toMatch(TIMESTAMP);
    expect(succeeded.completed_at >= succeeded.started_at).toBe(true);
  });
  it('metadata has operation_name, id, type and request', async () => {
    const body = vmBody();
    const { metadata } = operationOf(await world.post(`${world.P}/vms`, body));
    expect(metadata).toEqual({
      ...{ operation_name: 'CREATE', id: expect.stringMatching(UUID), type: 'vm', request: body },
    });
  });
  it('the echo of a rule request spells direction and action in capitals', async () => {
    const rule = operationOf(
      await world.post(`${world.P}/vpc/firewall-rules`, ruleBody(networkId)),
    );
    const echoed = { direction: 'DIRECTION_INGRESS', action: 'ACTION_ALLOW' };
    expect(rule.metadata.request).toMatchObject(echoed);
    await finishRule(world.api.sql, rule.metadata.id);
    const finished = await operation('vpc/firewall-rules', rule);
    expect(finished.metadata.request).toMatchObject(echoed);
    expect(finished.result).toMatchObject({ direction: 'ingress', action: 'allow' });
  });
});

describe('docs/contract/operations.md#rules: transitions', () => {
  it('an accepted creation is IN_PROGRESS with a null result', async () => {
    for (const { path, body } of creations()) {
      expect(operationOf(await world.post(`${world.P}/${path}`, body))).toMatchObject({
        ...{ state: 'IN_PROGRESS', result: null, completed_at: '' },
      });
    }
  });
  it('a finished creation is SUCCEEDED with the resource as its result', async () => {
    for (const { path, body, finish } of creations()) {
      const before = operationOf(await world.post(`${world.P}/${path}`, body));
      await finish(before.metadata.id);
      const after = await operation(path, before);
      expect(after).toMatchObject({
        ...{ state: 'SUCCEEDED', completed_at: expect.stringMatching(TIMESTAMP) },
        result: (await world.get(`${world.P}/${path}/${after.metadata.id}`)).body,
      });
      expect(after.result).toMatchObject({ id: after.metadata.id, name: body['name'] });
    }
  });
  it('a VM whose creation succeeded is STATE_RUNNING', () => {
    expect(vm).toMatchObject({ id: opened.metadata.id, state: 'STATE_RUNNING' });
  });
  it('a rule whose creation succeeded is active', async () => {
    const path = `${world.P}/vpc/firewall-rules`;
    const { metadata } = operationOf(await world.post(path, ruleBody(networkId)));
    expect((await world.get(`${path}/${metadata.id}`)).body.state).not.toBe('active');
    await finishRule(world.api.sql, metadata.id);
    expect((await world.get(`${path}/${metadata.id}`)).body.state).toBe('active');
  });
});

describe('docs/contract/operations.md#rules: results, failures and deadlines', () => {
  it('an operation is IN_PROGRESS, SUCCEEDED or FAILED', async () => {
    const states = async (state: string) =>
      (await world.get(`${world.P}/vms/operations?state=${state}`)).status;
    expect(await Promise.all(['IN_PROGRESS', 'SUCCEEDED', 'FAILED'].map(states))).toEqual([
      ...[200, 200, 200],
    ]);
    expect(await states('CANCELLED')).toBe(400);
  });
  it('the result of a success is the whole resource', async () => {
    expect(succeeded.result).toEqual(vm);
    const vmId = await makeVm(world);
    const deletion = operationOf(await world.delete(`${world.P}/vms/${vmId}`));
    const { body: lastSeen } = await world.get(`${world.P}/vms/${vmId}`);
    await finishVmDeletion(world.api.sql, vmId);
    expect(await operation('vms', deletion)).toMatchObject({
      state: 'SUCCEEDED',
      result: lastSeen,
    });
  });
  it('the result of a failure has code, message and details, and completed_at is set', async () => {
    const creation = operationOf(await world.post(`${world.P}/vms`, vmBody()));
    await failOperation(world.api.sql, creation.metadata.id);
    expect(await operation('vms', creation)).toMatchObject({
      ...{ state: 'FAILED', completed_at: expect.stringMatching(TIMESTAMP) },
      result: { code: 'host_failed', message: expect.stringMatching(/./), details: {} },
    });
  });
  it('failures have the documented codes', async () => {
    // The api itself sets one of these codes: a deletion cancels the operation before it.
    const creation = operationOf(await world.post(`${world.P}/vms`, vmBody()));
    operationOf(await world.delete(`${world.P}/vms/${creation.metadata.id}`));
    const { state, result, completed_at } = await operation('vms', creation);
    expect(state).toBe('FAILED');
    expect(completed_at).toMatch(TIMESTAMP);
    expect(membersOf(result ?? {})).toEqual(['code', 'details', 'message']);
    expect(result).toMatchObject({ code: 'cancelled', message: expect.stringMatching(/./) });
  });
  it('a second write while an operation is unfinished is operation_in_progress', async () => {
    const vmId = await makeVm(world);
    const stop = () => world.patch(`${world.P}/vms/${vmId}`, { action: 'STOP' });
    const rename = () =>
      world.patch(`${world.P}/vms/${vmId}`, { action: 'UPDATE', name: newName() });
    operationOf(await stop());
    expectRefusal(await stop(), 409, 'operation_in_progress');
    expectRefusal(await rename(), 409, 'operation_in_progress');
    await finishVm(world.api.sql, vmId, 'stopped');
    operationOf(await rename());

    const diskId = await makeDisk(world);
    const grow = (size: string) => world.patch(`${world.P}/disks/${diskId}`, { size });
    operationOf(await grow('200GiB'));
    expectRefusal(await grow('300GiB'), 409, 'operation_in_progress');
    expectRefusal(await world.delete(`${world.P}/disks/${diskId}`), 409, 'operation_in_progress');

    const ruleId = await makeRule(world);
    const path = `${world.P}/vpc/firewall-rules/${ruleId}`;
    operationOf(await world.patch(path, { protocols: ['udp'] }));
    expectRefusal(await world.patch(path, { protocols: ['tcp'] }), 409, 'operation_in_progress');
    expectRefusal(await world.delete(path), 409, 'operation_in_progress');
  });
  it('an operation has a deadline, 10 minutes by default', async () => {
    // The api sets the deadline. Tests of the scheduler check that it is enforced.
    for (const { path, body } of creations()) {
      const { operation_id } = operationOf(await world.post(`${world.P}/${path}`, body));
      // Both moments are by the database's clock.
      const [row] = await world.api.sql`
        select deadline_at - recorded_at = interval '10 minutes' as in_ten_minutes
        from operations where id = ${operation_id}`;
      expect(row).toEqual({ in_ten_minutes: true });
    }
  });
});

describe('docs/contract/errors.md#idempotency', () => {
  const keyed = (key: string) => ({ 'idempotency-key': key });

  it('the same key with the same request returns the first reply and creates nothing', async () => {
    const count = async () => {
      const { body } = await world.get(`${world.P}/quotas`);
      return body.quotas.map(({ type, used }: Fields) => ({ type, used }));
    };
    for (const { path, body, finish } of [
      ...creations(),
      { path: 'access-keys', body: { name: newName() }, finish: async () => {} },
      {
        path: 'vpc/networks',
        body: { name: newName(), cidr: '10.9.0.0/16' },
        finish: async () => {},
      },
    ]) {
      const send = () => world.post(`${world.P}/${path}`, body, keyed(`post-${path}`));
      const first = await send();
      expect(first.status).toBe(200);
      const used = await count();
      // The first reply is repeated, whatever happened to the resource since.
      if (first.body.operation) await finish(first.body.operation.metadata.id);
      const again = await send();
      expect(again).toMatchObject({ status: 200, body: first.body });
      expect(await count()).toEqual(used);
    }

    const vmId = await makeVm(world);
    const stop = () => world.patch(`${world.P}/vms/${vmId}`, { action: 'STOP' }, keyed('patch'));
    const stopped = await stop();
    await finishVm(world.api.sql, vmId, 'stopped');
    expect(await stop()).toMatchObject({ status: 200, body: stopped.body });
    const remove = () => world.delete(`${world.P}/vms/${vmId}`, keyed('delete'));
    const removed = operationOf(await remove());
    await finishVmDeletion(world.api.sql, vmId);
    expect(operationOf(await remove())).toEqual(removed);

    const body = vmBody();
    const create = () => world.post(`${world.P}/vms`, body, keyed('old'));
    operationOf(await create());
    await world.api.sql`update idempotency_keys
      set created_at = now() - interval '24 hours 1 second' where key = 'old'`;
    expectRefusal(await create(), 409, 'name_taken');
  });
  it('two requests with the same key at the same time write once', async () => {
    const body = vmBody();
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => world.post(`${world.P}/vms`, body, keyed('race'))),
    );
    const ids = replies.map((reply) => operationOf(reply).operation_id);
    expect(new Set(ids).size).toBe(1);
  });
  it('the same key with another request is idempotency_key_reused', async () => {
    const send = (path: string, body: Fields) =>
      world.post(`${world.P}/${path}`, body, keyed('reused'));
    operationOf(await send('vms', vmBody()));
    expectRefusal(await send('vms', vmBody()), 409, 'idempotency_key_reused');
    expectRefusal(await send('disks', diskBody()), 409, 'idempotency_key_reused');
  });
});
