import { addHost } from '@gantry/testkit/make/hosts';
import { placeVm, unplaceVms } from '@gantry/testkit/make/placements';
import { makeTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HostsWorld, startHostsWorld } from './testing/hosts-world.ts';

let world: HostsWorld;

beforeAll(async () => {
  world = await startHostsWorld();
});
afterAll(() => world.api.stop());

describe('the administrative state of a host', () => {
  it('is independent of the observed state, and setting it twice changes nothing', async () => {
    const { id } = await addHost(world.api.sql, { name: 'wanted' });
    await world.api.sql`update hosts set state = 'unreachable' where id = ${id}`;
    for (const [verb, admin_state] of [
      ['cordon', 'cordoned'],
      ['uncordon', 'active'],
      ['drain', 'draining'],
      ['cordon', 'cordoned'],
      ['drain', 'draining'],
      ['uncordon', 'active'],
    ] as const) {
      const first = await world.act(id, verb);
      expect(first.status).toBe(200);
      expect(first.body).toMatchObject({ id, state: 'unreachable', admin_state });
      expect((await world.act(id, verb)).body).toEqual(first.body);
      expect((await world.admin('GET', `/${id}`)).body).toMatchObject({ admin_state });
    }
  });

  it('returns the same reply for the same Idempotency-Key', async () => {
    const { id } = await addHost(world.api.sql, { name: 'once' });
    const headers = { 'idempotency-key': 'cordon-once' };
    const first = await world.admin('POST', `/${id}:cordon`, headers);
    await world.act(id, 'uncordon');
    expect((await world.admin('POST', `/${id}:cordon`, headers)).body).toEqual(first.body);
    expect((await world.admin('GET', `/${id}`)).body.admin_state).toBe('active');
    const other = await world.admin('POST', `/${id}:drain`, headers);
    expect(other.body.code).toBe('idempotency_key_reused');
  });

  it('is in the audit log with its host', async () => {
    const { id } = await addHost(world.api.sql, { name: 'audited' });
    await world.act(id, 'drain');
    const lines = await world.api.sql`select actor_id, resource_type, resource_id from audit_logs
      where action = 'admin-hosts.drain' and resource_id = ${id}`;
    expect(lines).toMatchObject([{ actor_id: world.operator.id, resource_type: 'admin-hosts' }]);
  });

  it('lists the VMs that are left during a drain', async () => {
    const { id } = await addHost(world.api.sql, { name: 'draining' });
    const elsewhere = await addHost(world.api.sql, { name: 'not-draining' });
    const vmIds = [await world.createVm('left-1'), await world.createVm('left-2')];
    for (const vmId of vmIds) await placeVm(world.api.sql, { vmId, hostId: id });
    await placeVm(world.api.sql, { vmId: await world.createVm('not-left'), hostId: elsewhere.id });
    const vm = { project_id: world.acme.projectId, state: 'STATE_CREATING' };
    const { body } = await world.act(id, 'drain');
    expect(body).toEqual({
      ...(await world.admin('GET', `/${id}`)).body,
      remaining_vms: [
        { ...vm, id: vmIds[0], name: 'left-1' },
        { ...vm, id: vmIds[1], name: 'left-2' },
      ],
    });
    expect(body.vm_count).toBe(2);
    // Draining does not stop VMs.
    const [untouched] = await world.api.sql`select count(*)::integer as vms from vms
      where id = any(${vmIds}::uuid[]) and desired_state = 'running' and generation = 1`;
    expect(untouched?.['vms']).toBe(2);
    for (const vmId of vmIds) await unplaceVms(world.api.sql, [vmId]);
    expect((await world.act(id, 'drain')).body).toMatchObject({ remaining_vms: [], vm_count: 0 });
  });
});

describe('a host that drifted', () => {
  const facts = { kernel: '6.1.0-26' };
  const drifted = ['kernel: 6.1.0-25 → 6.1.0-26'];
  const drift = (hostId: string) =>
    world.api.sql`update hosts set facts = ${world.api.sql.json(facts)}, drift = ${drifted},
      accepted_facts = ${world.api.sql.json({ kernel: '6.1.0-25' })} where id = ${hostId}`;
  const accepted = async (hostId: string) =>
    (await world.api.sql`select accepted_facts from hosts where id = ${hostId}`)[0]?.[
      'accepted_facts'
    ];

  it('shows its drift, alone and in the list, until an operator accepts it', async () => {
    const { id } = await addHost(world.api.sql, { name: 'drifted' });
    await drift(id);
    const { body } = await world.admin('GET', '?limit=1000');
    expect(body.items).toContainEqual(expect.objectContaining({ id, drift: drifted }));
    expect(await world.show(id)).toMatchObject({ drift: drifted });
    const first = await world.act(id, 'accept');
    expect([first.status, first.body.drift]).toEqual([200, []]);
    expect(await accepted(id)).toEqual(facts);
    expect((await world.act(id, 'accept')).body).toEqual(first.body);
    const lines = await world.api.sql`select actor_id from audit_logs
      where action = 'admin-hosts.accept' and resource_id = ${id}`;
    expect(lines).toMatchObject([{ actor_id: world.operator.id }, { actor_id: world.operator.id }]);
  });

  it('cannot be accepted before its first report', async () => {
    const { id } = await addHost(world.api.sql, { name: 'silent' });
    const { status, body } = await world.act(id, 'accept');
    expect([status, body.code]).toEqual([409, 'conflict']);
    expect(body.message).toContain('has not reported its hardware yet');
    expect(await accepted(id)).toBeNull();
  });
});

describe('a drain', () => {
  it('notifies the tenants of every VM on the host, once until it ends', async () => {
    const { id } = await addHost(world.api.sql, { name: 'told' });
    const elsewhere = await addHost(world.api.sql, { name: 'untold' });
    const globex = await makeTenant(world.api, 'globex');
    const vmIds = [await world.createVm('told-1'), await world.createVm('told-2', globex)];
    for (const vmId of vmIds) await placeVm(world.api.sql, { vmId, hostId: id });
    await placeVm(world.api.sql, { vmId: await world.createVm('not-told'), hostId: elsewhere.id });
    const told = async () =>
      (await world.notifiedOf('vm_host_draining'))
        .filter((vmId) => vmIds.includes(vmId))
        .toSorted();
    const before = (await world.notifiedOf('vm_host_draining')).length;

    for (const verb of ['drain', 'drain']) await world.act(id, verb);
    expect(await told()).toEqual(vmIds);
    expect(await world.notifiedOf('vm_host_draining')).toHaveLength(before + 2);
    const { body } = await world.api.call('GET', `/projects/${globex.projectId}/events`, {
      bearer: globex.accessKey,
    });
    expect(body.items).toMatchObject([
      { type: 'vm_host_draining', resource_type: 'vm', resource_id: vmIds[1] },
    ]);
    expect(body.items[0].message).not.toContain('told');

    for (const verb of ['uncordon', 'drain', 'drain', 'cordon', 'drain']) await world.act(id, verb);
    expect(await told()).toEqual(vmIds.flatMap((vmId) => [vmId, vmId, vmId]));
  });

  it('notifies no one if it is refused', async () => {
    const { id } = await addHost(world.api.sql, { name: 'refused' });
    const vmId = await world.createVm('on-refused');
    await placeVm(world.api.sql, { vmId, hostId: id });
    const headers = { 'idempotency-key': 'drain-refused' };
    await world.admin('POST', `/${id}:uncordon`, headers);
    expect((await world.admin('POST', `/${id}:drain`, headers)).status).toBe(409);
    expect(await world.notifiedOf('vm_host_draining')).not.toContain(vmId);
  });

  it('notifies the tenant of a VM that is placed at the same time', async () => {
    const { id } = await addHost(world.api.sql, { name: 'raced-drain' });
    const vmId = await world.createVm('on-raced-drain');
    const drained = await world.whileOpen(
      (tx) => placeVm(tx, { vmId, hostId: id }),
      () => world.act(id, 'drain'),
    );
    expect(drained.body.remaining_vms).toMatchObject([{ id: vmId }]);
    expect(await world.notifiedOf('vm_host_draining')).toContain(vmId);
  });
});

it('the state of a host cannot be set to a value of the administrative state', async () => {
  const { id } = await addHost(world.api.sql, { name: 'checked' });
  for (const state of ['cordoned', 'draining']) {
    await expect(
      world.api.sql`update hosts set state = ${state} where id = ${id}`,
    ).rejects.toMatchObject({ constraint_name: 'hosts_state' });
  }
  await expect(
    world.api.sql`update hosts set admin_state = 'fenced' where id = ${id}`,
  ).rejects.toMatchObject({ constraint_name: 'hosts_admin_state' });
});
