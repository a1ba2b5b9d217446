import { addHost, certifyHost, connectHost } from '@gantry/testkit/make/hosts';
import { placeVm, unplaceVms } from '@gantry/testkit/make/placements';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HostsWorld, startHostsWorld } from './testing/hosts-world.ts';

let world: HostsWorld;

beforeAll(async () => {
  world = await startHostsWorld();
});
afterAll(() => world.api.stop());

describe('fencing a host', () => {
  it('marks it as dead and revokes its certificates, and is idempotent', async () => {
    const { id } = await addHost(world.api.sql, { name: 'dead' });
    const vmId = await world.createVm('on-dead');
    await placeVm(world.api.sql, { vmId, hostId: id });
    const serial = await certifyHost(world.api.sql, id);
    const other = await addHost(world.api.sql, { name: 'alive' });
    await certifyHost(world.api.sql, other.id);
    const fenced = await world.fence(id, 'dead');
    expect(fenced.status).toBe(200);
    expect(fenced.body).toMatchObject({
      id,
      fenced_at: expect.stringMatching(/Z$/),
      state: 'ready',
      vm_count: 1,
      certificates: [{ serial, revoked_at: expect.stringMatching(/Z$/) }],
    });
    expect((await world.fence(id, 'dead')).body).toEqual(fenced.body);
    expect(await world.show(id)).toEqual(fenced.body);
    // Only the scheduler releases claims: the VM is still placed, so the host cannot be removed.
    expect((await world.admin('DELETE', `/${id}`)).status).toBe(409);
    expect(await world.show(other.id)).toMatchObject({
      fenced_at: '',
      certificates: [{ revoked_at: '' }],
    });
  });

  it.each(['', 'Careful', 'careful ', 'other'])(
    'is refused if the confirmation is not its name: "%s"',
    async (confirm) => {
      const [known] = await world.api.sql`select id from hosts where name = 'careful'`;
      const id = known?.['id'] ?? (await addHost(world.api.sql, { name: 'careful' })).id;
      const before = await world.show(id);
      const refused = await world.fence(id, confirm);
      expect(refused.status).toBe(400);
      expect(refused.body.details).toEqual([
        { field: 'confirm', reason: 'must be the name of the host' },
      ]);
      expect(await world.show(id)).toEqual(before);
    },
  );

  it('is refused without a confirmation', async () => {
    const { id } = await addHost(world.api.sql, { name: 'unconfirmed' });
    for (const body of [undefined, {}, { confirm: 7 }, { confirm: 'unconfirmed', force: true }]) {
      expect((await world.admin('POST', `/${id}:fence`, {}, body)).status).toBe(400);
    }
    expect((await world.show(id)).fenced_at).toBe('');
  });

  it('is refused while it is connected', async () => {
    const { id } = await addHost(world.api.sql, { name: 'talking' });
    await certifyHost(world.api.sql, id);
    const schedulerId = await connectHost(world.api.sql, { hostId: id });
    const refused = await world.fence(id, 'talking');
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict']);
    expect(refused.body.message).toMatch(/shut it down or revoke its certificates/);
    expect(await world.show(id)).toMatchObject({
      fenced_at: '',
      certificates: [{ revoked_at: '' }],
    });
    await world.api.sql`update schedulers set last_seen_at = now() - interval '1 minute'
      where id = ${schedulerId}`;
    expect((await world.fence(id, 'talking')).status).toBe(200);
  });

  it('is refused if the host connects at the same time', async () => {
    const { id } = await addHost(world.api.sql, { name: 'just-talking' });
    const refused = await world.whileOpen(
      async (tx) => void (await connectHost(tx, { hostId: id })),
      () => world.fence(id, 'just-talking'),
    );
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict']);
    expect((await world.show(id)).fenced_at).toBe('');
  });
});

describe("revoking a host's certificates", () => {
  it('revokes all current ones and keeps earlier revocations, connected or not', async () => {
    const { id } = await addHost(world.api.sql, { name: 'revoked' });
    const serials = [
      await certifyHost(world.api.sql, id),
      await certifyHost(world.api.sql, id),
    ].toSorted();
    await connectHost(world.api.sql, { hostId: id });
    await world.api.sql`update host_certificates set revoked_at = '2029-06-30T12:00:00Z'
      where serial = ${serials[0] ?? ''}`;
    const times = { not_after: '2030-01-31T12:00:00.000Z', created_at: '2029-01-31T12:00:00.000Z' };
    expect((await world.show(id)).certificates).toEqual([
      { ...times, serial: serials[0], revoked_at: '2029-06-30T12:00:00.000Z' },
      { ...times, serial: serials[1], revoked_at: '' },
    ]);
    const revoked = await world.act(id, 'revoke-certificates');
    expect(revoked.status).toBe(200);
    expect(revoked.body.certificates).toEqual([
      { ...times, serial: serials[0], revoked_at: '2029-06-30T12:00:00.000Z' },
      { ...times, serial: serials[1], revoked_at: expect.stringMatching(/Z$/) },
    ]);
    expect(revoked.body.fenced_at).toBe('');
    const again = await world.act(id, 'revoke-certificates');
    expect(again.body.certificates).toEqual(revoked.body.certificates);
  });
});

describe('removing a host', () => {
  it('is refused while a VM is placed on it, and later removes its devices too', async () => {
    const { id, gpuIds } = await addHost(world.api.sql, { name: 'removed' });
    const vmId = await world.createVm('on-removed');
    await placeVm(world.api.sql, { vmId, hostId: id, devices: gpuIds.slice(0, 1) });
    const refused = await world.admin('DELETE', `/${id}`);
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict']);
    const before = (await world.admin('GET', `/${id}`)).body;
    expect(before.gpus).toHaveLength(2);

    await unplaceVms(world.api.sql, [vmId]);
    const last = (await world.admin('GET', `/${id}`)).body;
    const removed = await world.admin('DELETE', `/${id}`);
    expect([removed.status, removed.body]).toEqual([200, last]);
    expect((await world.admin('GET', `/${id}`)).status).toBe(404);
    expect((await world.admin('DELETE', `/${id}`)).status).toBe(404);
    const left = await world.api.sql`select id from devices where host_id = ${id}`;
    expect(left).toEqual([]);
  });

  it('is refused if a VM is placed on it at the same time', async () => {
    const { id } = await addHost(world.api.sql, { name: 'raced' });
    const vmId = await world.createVm('on-raced');
    const refused = await world.whileOpen(
      (tx) => placeVm(tx, { vmId, hostId: id }),
      () => world.admin('DELETE', `/${id}`),
    );
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict']);
    expect(refused.body.message).toContain('drain');
    expect((await world.admin('GET', `/${id}`)).body.vm_count).toBe(1);
  });

  it('is refused while it has the only copy of disks, unless it is fenced', async () => {
    const { id } = await addHost(world.api.sql, { name: 'keeper' });
    const vmId = await world.createVm('on-keeper');
    await world.api.sql`update disks set host_id = ${id} where id in
      (select disk_id from disk_attachments where vm_id = ${vmId})`;
    const refused = await world.admin('DELETE', `/${id}`);
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict']);
    expect(refused.body.message).toContain('1 disks');
    await world.api.sql`update hosts set shared_storage = true where id = ${id}`;
    expect((await world.admin('DELETE', `/${id}`)).status).toBe(200);
  });

  it('keeps the join token of the host', async () => {
    const { id } = await addHost(world.api.sql, { name: 'joined' });
    const { body: token } = await world.api.call('POST', '/admin/join-tokens', {
      bearer: world.operator.token,
      body: { location: 'eu-north-a' },
    });
    await world.api
      .sql`update join_tokens set used_at = now(), host_id = ${id} where id = ${token.id}`;
    expect((await world.admin('DELETE', `/${id}`)).status).toBe(200);
    const kept = await world.api
      .sql`select host_id, used_at from join_tokens where id = ${token.id}`;
    expect(kept).toEqual([{ host_id: null, used_at: expect.any(Date) }]);
  });
});
