import { createLog } from '@gantry/daemon/log';
import type { HostSpec } from '@gantry/proto/generated/gantry/v1/HostSpec';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { addHosts } from '@gantry/testkit/make/hosts';
import { placeVm } from '@gantry/testkit/make/placements';
import { addProject } from '@gantry/testkit/make/tenants';
import { addVms } from '@gantry/testkit/make/vms';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AttachedHosts } from '../attached/attached-hosts.ts';
import { type Delivering, startDelivering } from './start-delivering.ts';

const log = createLog({ process: 'test', level: 'silent' });
let database: TestDatabase;
let delivering: Delivering | undefined;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await delivering?.stop();
  await database.drop();
});

const PLACED = 8;

it('a host gets changes of its own VMs at once and of other VMs in batches, without loss', async () => {
  const { sql } = database;
  const hosts = new AttachedHosts();
  const [own, other] = (await addHosts(sql, 2, { gpus: 1, spans: true })).map(({ id }) => {
    const sent: HostSpec[] = [];
    const stream = { hostId: id, certificateSerial: '', abort: () => undefined };
    hosts.add({ ...stream, send: (spec: HostSpec) => sent.push(spec) }, '1');
    return { id, sent };
  });
  if (!own || !other) throw new Error('BUG: two hosts were asked for');
  const vmIds = await addVms(sql, PLACED + 1, { projectId: await addProject(sql) });
  await placeVm(sql, { vmId: vmIds[0] ?? '', hostId: other.id });
  delivering = startDelivering({ sql, log, hosts, pollMs: 10 });
  for (const { id } of [own, other]) delivering.request(id);
  await expect.poll(() => other.sent.length).toBe(1);

  const startedMs = Date.now();
  for (const [index, vmId] of vmIds.slice(1).entries()) {
    await placeVm(sql, { vmId, hostId: own.id });
    await expect.poll(() => own.sent.at(-1)?.vms).toHaveLength(index + 1);
  }
  const neighbours = () => other.sent.at(-1)?.networks?.[0]?.neighbours;
  await expect.poll(neighbours).toHaveLength(PLACED);
  const seconds = (Date.now() - startedMs) / 1_000;
  // The first spec was sent before. There is a second between any two of the others.
  expect(other.sent.length - 1).toBeLessThanOrEqual(seconds + 1);
  expect(own.sent.at(-1)?.networks?.[0]?.neighbours).toHaveLength(1);
});
