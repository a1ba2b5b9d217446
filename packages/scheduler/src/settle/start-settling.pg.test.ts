import { createLog } from '@gantry/daemon/log';
import { openStream } from '@gantry/db/queries/hosts/host-liveness';
import { newId } from '@gantry/model/ids';
import { loadFleet } from '@gantry/proto/load';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { type AttachedHost, AttachedHosts } from '../attached/attached-hosts.ts';
import type { HostReport } from '../attached/host-report.ts';
import { silentStream } from '../attached/testing/silent-stream.ts';
import { HEALTH_RULES } from '../health/health-rules.ts';
import { makeInventory } from '../inventory/testing/make-inventory.ts';
import { type Settling, startSettling } from './start-settling.ts';
import { makeVmReport } from './testing/rows.ts';

/** One report is settled at a time in this test, so two hosts alternate. */
const CONCURRENCY = 1;

let database: TestDatabase;
let settling: Settling;
let settled: string[];
let entered: string[];
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(() => {
  [settled, entered] = [[], []];
  settling = startSettling({
    sql: database.sql,
    log: createLog({ process: 'test', level: 'silent' }),
    rules: HEALTH_RULES,
    concurrency: CONCURRENCY,
    onSettled: (hostId) => settled.push(hostId),
    onSpecDue: () => {},
  });
});
afterEach(() => settling.stop());

/** A decoded report with default values, except for the fields that are set here. */
function report(fields: Partial<HostReport>): HostReport {
  const nothing = loadFleet().service.Attach.requestDeserialize(Buffer.alloc(0)) as HostReport;
  return { ...nothing, ...fields };
}

const SENT = { era: 0, number: 1, hash: 'of the first spec' };
const whole = () =>
  report({ inventory: makeInventory(), acceptedNumber: '1', acceptedHash: SENT.hash });
const heartbeat = () => report({ unchanged: true });

async function attachHosts(count: number): Promise<AttachedHost[]> {
  const hosts = new AttachedHosts();
  const attached: AttachedHost[] = [];
  for (let i = 0; i < count; i += 1) {
    const hostId = newId();
    await database.sql`insert into hosts (id, location, name)
      values (${hostId}, 'eu-north-a', ${hostId})`;
    const epoch = (await openStream(database.sql, { hostId, schedulerId: newId() })) ?? '';
    const host = hosts.add(silentStream(hostId), epoch);
    host.sent.record(SENT);
    attached.push(host);
  }
  return attached;
}

function come(...hosts: AttachedHost[]): void {
  for (const host of hosts) void settling.enter(host).then(() => entered.push(host.stream.hostId));
}

const idOf = ({ stream }: AttachedHost) => stream.hostId;

it('a limited number of first reports is read at a time, and heartbeats do not change that', async () => {
  const [a, b, c] = (await attachHosts(3)) as [AttachedHost, AttachedHost, AttachedHost];
  await database.sql.begin(async (tx) => {
    await tx`select from hosts where id = ${idOf(a)} for update`;
    come(a, b, c);
    await expect.poll(() => entered).toEqual([idOf(a), idOf(b)]);
    settling.settle(a, whole());
    settling.settle(b, whole());
    for (const host of [a, b]) settling.settle(host, heartbeat());
    await expect.poll(() => a.settling).toBe(true);
    expect(entered).toEqual([idOf(a), idOf(b)]);
  });
  await expect.poll(() => settled).toEqual([idOf(a), idOf(b)]);
  await expect.poll(() => entered).toEqual([idOf(a), idOf(b), idOf(c)]);
});

it('a host that detaches or begins with a heartbeat frees its place', async () => {
  const [a, b, c, d, e] = (await attachHosts(5)) as [
    ...[AttachedHost, AttachedHost, AttachedHost, AttachedHost, AttachedHost],
  ];
  come(a, b, c, d, e);
  await expect.poll(() => entered).toEqual([idOf(a), idOf(b)]);
  settling.leave(c);
  settling.leave(a);
  await expect.poll(() => entered).toEqual([a, b, c, d].map(idOf));
  settling.settle(b, heartbeat());
  await expect.poll(() => entered).toEqual([a, b, c, d, e].map(idOf));
});

it('a report that cannot be settled is set aside and shown, until a later one is settled', async () => {
  const [host] = (await attachHosts(1)) as [AttachedHost];
  const trouble = async () =>
    (await database.sql`select trouble from hosts where id = ${idOf(host)}`)[0]?.['trouble'];
  come(host);
  // No column can take this text.
  const poison = { id: newId(), sizeBytes: 'x' };
  settling.settle(host, { ...whole(), disks: [poison], deletedDisks: ['not-an-id'] });
  await expect.poll(trouble).toMatch(/^its last report cannot be settled/);
  expect(host.unsettled).toBeNull();
  expect(settled).toEqual([]);
  settling.settle(host, whole());
  await expect.poll(trouble).toBe('');
  await expect.poll(() => settled).toEqual([idOf(host)]);
});

it('what an operator decides about an orphan is carried out with the next number that its host accepts', async () => {
  const [host] = (await attachHosts(1)) as [AttachedHost];
  const orphans = async () =>
    await database.sql`select decision, problem from orphans where host_id = ${idOf(host)}`;
  const known = { id: newId(), state: 'VM_OBSERVED_STATE_UNKNOWN' as const, revision: '0' };
  const vms = [makeVmReport(known)];
  come(host);
  settling.settle(host, { ...whole(), vms });
  await expect.poll(orphans).toMatchObject([{ decision: null, problem: '' }]);
  await database.sql`update orphans set decision = 'give_back' where host_id = ${idOf(host)}`;
  host.sent.record({ ...SENT, number: 2, hash: 'of the second spec' });
  const accepted = { acceptedNumber: '2', acceptedHash: 'of the second spec' };
  settling.settle(host, report({ ...accepted, vms }));
  await expect
    .poll(orphans)
    .toMatchObject([{ decision: null, problem: expect.stringContaining('project') }]);
});
