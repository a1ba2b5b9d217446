import { createLog } from '@gantry/daemon/log';
import { loadFleet } from '@gantry/proto/load';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { addHost } from '@gantry/testkit/make/hosts';
import { placeVm } from '@gantry/testkit/make/placements';
import { addProject } from '@gantry/testkit/make/tenants';
import { addVms } from '@gantry/testkit/make/vms';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type AttachedHost, AttachedHosts } from '../attached/attached-hosts.ts';
import type { HostReport } from '../attached/host-report.ts';
import { silentStream } from '../attached/testing/silent-stream.ts';
import { createProofs } from './proof.ts';
import { makeVmReport } from './testing/rows.ts';

const log = createLog({ process: 'test', level: 'silent' });
let database: TestDatabase;
let host: AttachedHost;
let vmId: string;
let raised: string[];
let aborted: string[];
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  const { sql } = database;
  [raised, aborted] = [[], []];
  const { id: hostId } = await addHost(sql, {});
  [vmId = ''] = await addVms(sql, 1, { projectId: await addProject(sql) });
  await placeVm(sql, { vmId, hostId });
  const abort = (reason: string) => void aborted.push(reason);
  host = new AttachedHosts().add(silentStream(hostId, { abort }), '0');
  host.sent.record({ era: 7, number: 17, hash: 'of ours' });
});

const proofOf = async (fields: Partial<HostReport>) => {
  const nothing = loadFleet().service.Attach.requestDeserialize(Buffer.alloc(0)) as HostReport;
  const proofs = createProofs({ sql: database.sql, log, onRaised: (id) => raised.push(id) });
  return await proofs.of(host, { ...nothing, ...fields });
};
const counters = async () => {
  const [row] = await database.sql<{ number: string; revision: string }[]>`
    select r.number, v.revision from host_revisions r, vms v
    where r.host_id = ${host.stream.hostId} and v.id = ${vmId}`;
  return { number: Number(row?.number), revision: Number(row?.revision) };
};
const ours = { acceptedEra: '7', acceptedNumber: '17', acceptedHash: 'of ours' };

it('a host confirms the spec that was sent to it, and its firewall', async () => {
  expect(await proofOf(ours)).toEqual({ isAccepted: true, firewallNumber: '0' });
  const inForce = { ...ours, firewallNumber: '17', firewallHash: 'of ours' };
  expect(await proofOf(inForce)).toEqual({ isAccepted: true, firewallNumber: '17' });
  const other = { ...ours, firewallNumber: '35', firewallHash: 'of a lost commit' };
  expect(await proofOf(other)).toEqual({ isAccepted: true, firewallNumber: '0' });
});

it('a host that is ahead proves nothing, and its next spec is above what it has', async () => {
  const vms = [makeVmReport({ id: vmId, revision: '40' })];
  const lost = { acceptedEra: '7', acceptedNumber: '35', acceptedHash: 'of a lost commit', vms };
  expect(await proofOf(lost)).toBeUndefined();
  expect(raised).toEqual([host.stream.hostId]);
  const { number, revision } = await counters();
  expect(number).toBeGreaterThan(35);
  expect(revision).toBeGreaterThan(40);
});

it('a host that accepted the same number with other content proves nothing', async () => {
  expect(await proofOf({ ...ours, acceptedHash: 'of a lost commit' })).toBeUndefined();
  expect(raised).toHaveLength(1);
  expect((await counters()).number).toBeGreaterThan(17);
});

it('a report before the first accepted spec is not settled, unless the spec was refused', async () => {
  const before = { acceptedEra: '7', acceptedNumber: '16', acceptedHash: 'of the one before' };
  expect(await proofOf(before)).toBeUndefined();
  const failure = { code: 'bad_spec', message: 'refused', sinceMs: '1' };
  expect(await proofOf({ ...before, refusal: { number: '17', failure } })).toEqual({
    ...{ isAccepted: false, firewallNumber: '0' },
  });
  expect([raised, aborted]).toEqual([[], []]);
});

it('the stream of a host with a later era, or with a number that cannot be, is aborted', async () => {
  expect(await proofOf({ ...ours, acceptedEra: '8' })).toBeUndefined();
  expect(await proofOf({ ...ours, acceptedNumber: '18446744073709551615' })).toBeUndefined();
  expect(aborted).toHaveLength(2);
  expect(raised).toEqual([]);
});
