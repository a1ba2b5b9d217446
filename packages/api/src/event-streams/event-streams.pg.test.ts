import { setTimeout as delay } from 'node:timers/promises';
import { connect } from '@gantry/db/connect';
import { insertEvents } from '@gantry/db/queries/operations/events';
import { newId } from '@gantry/model/ids';
import { type Following, followEvents } from '@gantry/testkit/api/follow-events';
import { type ListeningApi, listenTestApi } from '@gantry/testkit/api/listening-api';
import { STREAM_TIMINGS, startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { otherProcess } from '@gantry/testkit/database/other-process';
import { addHost } from '@gantry/testkit/make/hosts';
import { placeVm } from '@gantry/testkit/make/placements';
import { makeTenant, makeUser, type TestTenant, type TestUser } from '@gantry/testkit/make/tenants';
import { addVms } from '@gantry/testkit/make/vms';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createEventStreams } from './open-streams.ts';

let api: TestApi;
let listening: ListeningApi;
let acme: TestTenant;
let globex: TestTenant;
let operator: TestUser;
const followings: Following[] = [];

beforeAll(async () => {
  api = await startTestApi();
  listening = await listenTestApi(api);
  acme = await makeTenant(api, 'acme');
  globex = await makeTenant(api, 'globex');
  operator = await makeUser(api, 'operator@gantry.test', { operator: true });
});
afterEach(() => {
  for (const following of followings.splice(0)) following.close();
});
afterAll(async () => {
  await listening.stop();
  await api.stop();
});

type Options = { bearer?: string; lastEventId?: string };
const open = async (path: string, { bearer = acme.readOnlyKey, ...options }: Options = {}) => {
  const url = `http://127.0.0.1:${listening.port}/v0.1${path}`;
  const following = await followEvents(url, { bearer, ...options });
  followings.push(following);
  return following;
};
const pathOf = ({ projectId }: TestTenant) => `/projects/${projectId}/events`;
/** Follows a project from now on. */
const follow = async (tenant = acme) => {
  const following = await open(pathOf(tenant), { bearer: tenant.readOnlyKey });
  await expect.poll(() => following.events.map(({ type }) => type)).toEqual(['ready']);
  return following;
};
const happen = async (sql = api.sql, { tenant = acme, message = '' } = {}) => {
  const resourceId = newId();
  await insertEvents(sql, [
    { projectId: tenant.projectId, resourceType: 'vm', resourceId, type: 'vm_crashed', message },
  ]);
  return resourceId;
};
const resourcesOf = ({ events }: Following) =>
  events.filter(({ type }) => type === 'event').map(({ data }) => data.resource_id as string);
const idsOf = ({ events }: Following) =>
  events.filter(({ type }) => type === 'event').map(({ id }) => id);

describe('what a stream contains', () => {
  it('a project gets its own operations, VMs and events; operators get everything', async () => {
    const [own, other] = [await follow(acme), await follow(globex)];
    const all = await open('/admin/events', { bearer: operator.token });
    await expect.poll(() => all.events.length).toBeGreaterThan(0);
    const host = await addHost(api.sql);
    const [vmId = ''] = await addVms(api.sql, 1, { projectId: acme.projectId });
    await placeVm(api.sql, { vmId, hostId: host.id, devices: [host.gpuIds[0] ?? ''] });
    await api.sql`update vms set observed_state = 'running', observed_generation = generation where id = ${vmId}`;
    await api.sql`update operations set state = 'FAILED', completed_at = now(), result = '{"code": "cancelled", "message": "m"}'
      where resource_id = ${vmId}`;
    await api.sql`update hosts set admin_state = 'draining' where id = ${host.id}`;
    const crash = await happen();
    await happen(api.sql, { tenant: globex });

    await expect.poll(() => own.events.length).toBe(7);
    const seen = own.events.slice(1).map(({ type, data }) => {
      const { step, state, code } = data;
      return [type, ...(type === 'operation' ? [step, state, code] : [state ?? data.resource_id])];
    });
    expect(seen).toEqual([
      ['vm', 'STATE_CREATING'],
      ['operation', 'requested', 'IN_PROGRESS', ''],
      ['operation', 'placed', 'IN_PROGRESS', ''],
      ['vm', 'STATE_RUNNING'],
      ['operation', 'ended', 'FAILED', 'cancelled'],
      ['event', crash],
    ]);
    expect(own.events[1]?.data).toEqual({
      ...{ id: vmId, name: `vm-${vmId}`, state: 'STATE_CREATING', deleted: false },
      created_at: expect.stringMatching(/Z$/),
    });
    await expect.poll(() => resourcesOf(other)).toHaveLength(1);
    expect(other.events).toHaveLength(2);
    expect(other.text()).not.toContain(vmId);
    for (const secret of [host.id, host.name, ...host.gpuIds])
      expect(own.text()).not.toContain(secret);

    await expect.poll(() => resourcesOf(all)).toHaveLength(2);
    const hostEvents = all.events.filter(({ type }) => type === 'host');
    expect(hostEvents.map(({ data }) => [data.id, data.admin_state, data.project_id])).toEqual([
      [host.id, 'active', ''],
      [host.id, 'draining', ''],
    ]);
    const claims = all.events.filter(({ type, data }) => type === 'devices' && data.items[0].vm_id);
    expect(claims.map(({ data }) => [data.host_id, data.items[0].id, data.items[0].vm_id])).toEqual(
      [[host.id, host.gpuIds[0], vmId]],
    );
    const running = all.events.find(({ data }) => data.state === 'STATE_RUNNING');
    expect(running?.data).toMatchObject({ project_id: acme.projectId, id: vmId });
  });

  it('the reply is an event stream that no proxy may store or buffer', async () => {
    const { status, headers } = await follow();
    expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-accel-buffering')).toBe('no');
  });

  it('a client that does not ask for a stream gets the list', async () => {
    const { body } = await api.call('GET', pathOf(acme), {
      ...{ bearer: acme.readOnlyKey, headers: { accept: 'application/json, */*' } },
    });
    expect(body.items).toBeInstanceOf(Array);
    const admin = await api.call('GET', '/admin/events?limit=1', { bearer: operator.token });
    expect(admin.body.items[0].project_id).toBe(globex.projectId);
  });
});

describe('order', () => {
  it('an event of a transaction that commits late is not lost', async () => {
    const following = await follow();
    const late = connect({ url: api.databaseUrl, name: 'late', maxConnections: 1 });
    await late`begin`;
    const first = await happen(late);
    const second = await happen();
    // A new stream begins after a read, so the second event was there to be read.
    await follow();
    await late`commit`;
    await expect.poll(() => resourcesOf(following)).toEqual([first, second]);
    await late.end();
  });

  it('concurrent writers: every stream has every event once, in the same order, also after reconnecting', async () => {
    const steady = await follow();
    const other = otherProcess(api.databaseUrl);
    const expected: string[] = [];
    const write = async () => {
      for (let count = 0; count < 15; count += 1) {
        await other.begin(async (tx) => {
          expected.push(await happen(tx as never));
          await delay(Math.random() * 20);
          expected.push(await happen(tx as never));
        });
      }
    };
    const writing = Promise.all([write(), write(), write()]);
    const pieces: string[] = [];
    let lastEventId = steady.events[0]?.id ?? '';
    while (pieces.length < 90) {
      const piece = await open(pathOf(acme), { lastEventId });
      await expect.poll(() => resourcesOf(piece).length).toBeGreaterThan(0);
      piece.close();
      await piece.ended;
      pieces.push(...resourcesOf(piece));
      lastEventId = piece.lastEventId();
    }
    await writing;
    await other.end();
    await expect.poll(() => resourcesOf(steady).length).toBe(90);
    expect(resourcesOf(steady).toSorted()).toEqual(expected.toSorted());
    expect(pieces).toEqual(resourcesOf(steady));
  });

  it('a stream continues after any event that its client has', async () => {
    const following = await follow();
    for (let count = 0; count < 3; count += 1) await happen();
    await expect.poll(() => idsOf(following)).toHaveLength(3);
    const ids = idsOf(following);
    for (const [index, lastEventId] of ids.entries()) {
      const continued = await open(pathOf(acme), { lastEventId });
      const next = await happen();
      const missed = resourcesOf(following).slice(index + 1, 3);
      await expect.poll(() => resourcesOf(continued).at(-1)).toBe(next);
      expect(resourcesOf(continued).slice(0, missed.length)).toEqual(missed);
      expect(continued.events.map(({ type }) => type)).not.toContain('ready');
    }
  });

  it('heartbeats move the client on, so that an idle stream does not become too old', async () => {
    const following = await follow();
    const begin = following.lastEventId();
    await happen(api.sql, { tenant: globex });
    await expect.poll(() => following.lastEventId()).not.toBe(begin);
    expect(following.events).toHaveLength(1);
  });
});

describe('reset', () => {
  const position = (id: string) => id.split('-').map(BigInt) as [bigint, bigint, bigint];
  const resetOf = async (lastEventId: string) => {
    const following = await open(pathOf(acme), { lastEventId });
    await expect.poll(() => following.events.length).toBeGreaterThan(0);
    return following.events[0]?.type;
  };

  it('a stream cannot continue before removed events, or after an id that was not handed out', async () => {
    const following = await follow();
    await happen();
    await expect.poll(() => idsOf(following)).toHaveLength(1);
    const [id = ''] = idsOf(following);
    const [era, xid, number] = position(id);
    expect(await resetOf(`${era}-${xid + 1_000_000n}-${number}`)).toBe('reset');
    expect(await resetOf(`${era + 1n}-${xid}-${number}`)).toBe('reset');
    await api.sql`update installation set stream_since = ${String(xid + 1n)}::text::xid8`;
    expect(await resetOf(id)).toBe('reset');
  });

  it('open streams begin anew when the database may have lost commits', async () => {
    const following = await follow();
    await api.sql`update installation set era = era + 1`;
    await expect.poll(() => following.events.map(({ type }) => type)).toEqual(['ready', 'reset']);
    const next = await happen();
    await expect.poll(() => resourcesOf(following)).toEqual([next]);
  });

  it.each(['x', '1-2', '1-99999999999999999999-1', '1-2-3-4'])(
    'the id %s is refused',
    async (id) => {
      const { status, text, ended } = await open(pathOf(acme), { lastEventId: id });
      await ended;
      expect(status).toBe(400);
      expect(JSON.parse(text()).details).toMatchObject([{ field: 'Last-Event-ID' }]);
    },
  );

  it('a stream takes no query', async () => {
    const { status, text, ended } = await open(`${pathOf(acme)}?limit=5`);
    await ended;
    expect([status, JSON.parse(text()).details[0].field]).toEqual([400, 'limit']);
  });
});

describe('the end of a stream', () => {
  it('a stream needs the rights of the list', async () => {
    const statuses = [
      await open(pathOf(acme), { bearer: globex.accessKey }),
      await open('/admin/events', { bearer: acme.owner.token }),
      await open(pathOf(acme), { bearer: 'nonsense' }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([404, 403, 401]);
  });

  it('a stream ends when its key or token expires, or its user loses the right to it', async () => {
    const tenant = await makeTenant(api, 'ending');
    const openAs = async (bearer: string) => {
      const following = await open(pathOf(tenant), { bearer });
      await expect.poll(() => following.events[0]?.type).toBe('ready');
      return following;
    };
    const expectEnd = async ({ ended, events }: Following) => {
      await ended;
      expect(events.at(-1)).toMatchObject({ type: 'end', data: { reason: 'rights_ended' } });
    };
    const stays = await openAs(tenant.owner.token);
    const byKey = await openAs(tenant.readOnlyKey);
    await api.sql`update access_keys set expires_at = now() - interval '1 second' where project_id = ${tenant.projectId} and role = 'read-only'`;
    await expectEnd(byKey);
    const byMember = await openAs(tenant.member.token);
    await api.sql`delete from members where user_id = ${tenant.member.id}`;
    await expectEnd(byMember);
    const byReader = await openAs(tenant.readOnly.token);
    await api.sql`update users set token_generation = token_generation + 1 where id = ${tenant.readOnly.id}`;
    await expectEnd(byReader);
    expect(stays.events).toHaveLength(1);
    const byToken = await openAs(tenant.owner.token);
    await api.sql`delete from signing_keys`;
    await expectEnd(byToken);
    await expectEnd(stays);
    await api.deps.tokens.rotate();
  });

  it('a stream ends when its process stops', async () => {
    const own = createEventStreams({
      ...{ sql: api.sql, log: api.deps.log, callers: api.deps.callers, maxPerSharer: 1 },
    });
    const { eventStreams } = api.deps;
    api.deps.eventStreams = own;
    const following = await open(pathOf(acme));
    await expect.poll(() => following.events[0]?.type).toBe('ready');
    await own.stop();
    await following.ended;
    expect(following.events.at(-1)).toMatchObject({ type: 'end', data: { reason: 'stopping' } });
    expect((await open(pathOf(acme))).status).toBe(503);
    api.deps.eventStreams = eventStreams;
  });

  it('an organization has a limited number of streams, and a client that does not read is cut off', async () => {
    const own = createEventStreams({
      ...{ sql: api.sql, log: api.deps.log, callers: api.deps.callers, maxPerSharer: 1 },
      timings: STREAM_TIMINGS,
    });
    const { eventStreams } = api.deps;
    api.deps.eventStreams = own;
    const url = `http://127.0.0.1:${listening.port}/v0.1${pathOf(acme)}`;
    const headers = { accept: 'text/event-stream', authorization: `Bearer ${acme.accessKey}` };
    // The body is not read, so what the server sends stays in the buffers of the connection.
    const silent = await fetch(url, { headers });
    expect(silent.status).toBe(200);
    const refused = await open(pathOf(acme), { bearer: acme.readOnlyKey });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10']);
    expect((await open(pathOf(globex), { bearer: globex.accessKey })).status).toBe(200);
    const message = 'x'.repeat(200_000);
    const reopened = async () => {
      await happen(api.sql, { message });
      return (await open(pathOf(acme), { bearer: acme.readOnlyKey })).status;
    };
    await expect.poll(reopened).toBe(200);
    await silent.body?.cancel().catch(() => {});
    await own.stop();
    api.deps.eventStreams = eventStreams;
  });
});
