import { MemberSets } from '@gantry/agent/link/member-sets';
import { createLog } from '@gantry/daemon/log';
import { newId } from '@gantry/model/ids';
import type { HostSpec, HostSpec__Output } from '@gantry/proto/generated/gantry/v1/HostSpec';
import { loadFleet } from '@gantry/proto/load';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { addHosts } from '@gantry/testkit/make/hosts';
import { placeVm } from '@gantry/testkit/make/placements';
import { addProject } from '@gantry/testkit/make/tenants';
import { addVms } from '@gantry/testkit/make/vms';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { AttachedHosts } from '../attached/attached-hosts.ts';
import { silentStream } from '../attached/testing/silent-stream.ts';
import { type OutgoingSpec, toWholeSpec } from '../fleet/outgoing-spec.ts';
import { pollChanges } from '../poll-changes.ts';
import { type Delivering, startDelivering } from './start-delivering.ts';

const log = createLog({ process: 'test', level: 'silent' });
let database: TestDatabase;
let running: { stop(): Promise<void> }[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  await Promise.all(running.map((one) => one.stop()));
  running = [];
});
afterAll(() => database.drop());

/** Delivering with the poll that a scheduler has. */
function start(hosts: AttachedHosts): Delivering {
  const { sql } = database;
  const delivering = startDelivering({ sql, log, hosts, pollMs: 10 });
  const polling = pollChanges({
    ...{ sql, log, pollMs: 10 },
    locations: () => [],
    onChanges: (changes) => delivering.note(changes),
    onGap: () => delivering.noteAll(),
  });
  running.push(polling, delivering);
  return delivering;
}

const { responseDeserialize } = loadFleet().service.Attach;
const PLACED = 8;

/** Follows a stream as an agent does. */
function follower(takesPieces: boolean) {
  const seen = { specs: [] as HostSpec[], messages: 0, addresses: new Map<string, string[]>() };
  const sets = new MemberSets();
  return {
    ...{ seen, takesPieces },
    send: (spec: OutgoingSpec) => void seen.specs.push(toWholeSpec(spec)),
    sendEncoded(message: Buffer) {
      seen.messages += 1;
      const { members } = responseDeserialize(message) as HostSpec__Output;
      for (const change of members) {
        const all = sets.apply(change).map(({ privateIpv4 }) => privateIpv4);
        seen.addresses.set(change.networkId, all);
      }
    },
  };
}

it('a host gets changes of its own VMs at once and the VMs of its networks in batches, without loss', async () => {
  const { sql } = database;
  const hosts = new AttachedHosts();
  const made = await addHosts(sql, 3, { gpus: 1, spans: true });
  const [own, other, earlier] = made.map(({ id }, index) => {
    const { seen, ...stream } = follower(index < 2);
    hosts.add(silentStream(id, stream), '1');
    return { id, seen };
  });
  if (!own || !other || !earlier) throw new Error('BUG: three hosts were asked for');
  const vmIds = await addVms(sql, PLACED + 2, { projectId: await addProject(sql) });
  await placeVm(sql, { vmId: vmIds[0] ?? '', hostId: other.id });
  await placeVm(sql, { vmId: vmIds[1] ?? '', hostId: earlier.id });
  const delivering = start(hosts);
  for (const { id } of [own, other, earlier]) delivering.request(id);
  const membersOf = ({ seen }: typeof other) => [...seen.addresses.values()][0];
  await expect.poll(() => membersOf(other)).toHaveLength(2);
  expect(other.seen.messages).toBe(1);

  const startedMs = Date.now();
  for (const [index, vmId] of vmIds.slice(2).entries()) {
    await placeVm(sql, { vmId, hostId: own.id });
    await expect.poll(() => own.seen.specs.at(-1)?.vms).toHaveLength(index + 1);
  }
  await expect.poll(() => membersOf(other)).toHaveLength(PLACED + 2);
  await expect.poll(() => membersOf(own)).toHaveLength(PLACED + 2);
  const seconds = (Date.now() - startedMs) / 1_000;
  // The first message was sent before. There is a second between any two of the others.
  expect(other.seen.messages - 1).toBeLessThanOrEqual(seconds + 1);
  expect(other.seen.specs).toHaveLength(1);
  // An agent of an earlier version gets them in its spec, with a greater number.
  const { specs } = earlier.seen;
  await expect.poll(() => specs.at(-1)?.networks?.[0]?.neighbours).toHaveLength(PLACED + 1);
  expect(Number(specs.at(-1)?.number)).toBeGreaterThan(Number(specs[0]?.number));
});

it('changes of rules reach a host in batches, and none is lost', async () => {
  const { sql } = database;
  const hosts = new AttachedHosts();
  const [made] = await addHosts(sql, 1, { gpus: 1 });
  const hostId = made?.id ?? '';
  const { seen, ...stream } = follower(true);
  hosts.add(silentStream(hostId, stream), '1');
  const projectId = await addProject(sql);
  const [vmId = ''] = await addVms(sql, 1, { projectId });
  await placeVm(sql, { vmId, hostId });
  const delivering = start(hosts);
  delivering.request(hostId);
  await expect.poll(() => seen.specs).toHaveLength(1);

  const startedMs = Date.now();
  for (let i = 0; i < 20; i += 1) {
    await sql`insert into firewall_rules (id, project_id, network_id, name, direction, action, protocols,
        sources, source_ports, destinations, destination_ports)
      select ${newId()}, project_id, id, ${`rule-${i}`}, 'ingress', 'allow', '{tcp}', '[]', '{}', '[]', '{}'
      from networks where project_id = ${projectId}`;
  }
  const before = seen.specs[0]?.firewallRules?.length ?? 0;
  await expect.poll(() => seen.specs.at(-1)?.firewallRules).toHaveLength(before + 20);
  const seconds = (Date.now() - startedMs) / 1_000;
  // The first spec was sent before. There is a second between any two of the others.
  expect(seen.specs.length - 1).toBeLessThanOrEqual(seconds + 1);
  const [row] = await sql<
    { number: string }[]
  >`select number from host_revisions where host_id = ${hostId}`;
  expect(seen.specs.at(-1)?.number).toBe(row?.number);
});

it('a change that is noted while its spec is read causes no second spec', async () => {
  const { sql } = database;
  const hosts = new AttachedHosts();
  const [first, second] = (await addHosts(sql, 2)).map(({ id }) => {
    const { seen, ...stream } = follower(true);
    hosts.add(silentStream(id, stream), '1');
    return { id, seen };
  });
  if (!first || !second) throw new Error('BUG: two hosts were asked for');
  const change = { host_id: first.id, number: '1', own_number: '1', location: null };
  const interrupted = new Proxy(sql, {
    get(target, name) {
      if (name === 'begin')
        delivering.note({ hosts: [{ ...change, changed_xid: null }], networkIds: [] });
      return Reflect.get(target, name);
    },
  });
  const delivering = startDelivering({ sql: interrupted, log, hosts, pollMs: 10 });
  running.push(delivering);
  delivering.request(first.id);
  await expect.poll(() => first.seen.specs).toHaveLength(1);
  delivering.request(second.id);
  await expect.poll(() => second.seen.specs).toHaveLength(1);
  expect(first.seen.specs).toHaveLength(1);
});

it('a host that leaves a network and comes back to it gets the whole set again', async () => {
  const { sql } = database;
  const hosts = new AttachedHosts();
  const [there, here] = await addHosts(sql, 2, { gpus: 1, spans: true });
  const { seen, ...stream } = follower(true);
  const hostId = here?.id ?? '';
  hosts.add(silentStream(hostId, stream), '1');
  const [first = '', second = ''] = await addVms(sql, 2, { projectId: await addProject(sql) });
  await placeVm(sql, { vmId: first, hostId: there?.id ?? '' });
  await placeVm(sql, { vmId: second, hostId });
  const delivering = start(hosts);
  delivering.request(hostId);
  await expect.poll(() => [...seen.addresses.values()][0]).toHaveLength(2);
  await sql`delete from placements where vm_id = ${second}`;
  await expect.poll(() => seen.specs.at(-1)?.networks).toEqual([]);
  const { messages } = seen;
  await sql`insert into placements (vm_id, host_id, epoch) values (${second}, ${hostId}, 1)`;
  await expect.poll(() => seen.messages).toBeGreaterThan(messages);
  await expect.poll(() => [...seen.addresses.values()][0]).toHaveLength(2);
});

it('a host gets no spec in a new era until what it has was compared with the database', async () => {
  const { sql } = database;
  const [row] = await addHosts(sql, 1, { gpus: 1 });
  const hostId = row?.id ?? '';
  const events: string[] = [];
  const hosts = new AttachedHosts();
  const abort = () => void events.push('aborted');
  const send = () => void events.push('sent');
  const host = hosts.add(silentStream(hostId, { abort, send }), '1');
  // Before the loop starts, because its first poll may already find the new host.
  await sql`update hosts set awaits_comparison = true where id = ${hostId}`;
  const delivering = start(hosts);
  delivering.request(hostId);
  // It reported before the era began, so it has to report again.
  host.isCompared = true;
  delivering.request(hostId);
  await expect.poll(() => events.at(-1)).toBe('aborted');
  expect(events).not.toContain('sent');
  await sql`update hosts set awaits_comparison = false where id = ${hostId}`;
  delivering.request(hostId);
  await expect.poll(() => events.at(-1)).toBe('sent');
});
