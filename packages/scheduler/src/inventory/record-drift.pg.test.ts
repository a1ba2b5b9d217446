import { createLog } from '@gantry/daemon/log';
import { updateAcceptedFacts } from '@gantry/db/queries/hosts/admin-hosts';
import { openStream } from '@gantry/db/queries/hosts/host-liveness';
import { newId } from '@gantry/model/ids';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { HEALTH_RULES } from '../health/health-rules.ts';
import { recordInventory } from './record-inventory.ts';
import { makeGpu, makeInventory, makeSoftware } from './testing/make-inventory.ts';

let database: TestDatabase;
let hostId: string;
let streamEpoch: string;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  hostId = newId();
  await database.sql`insert into hosts (id, location, name) values (${hostId}, 'eu-north-a', ${hostId})`;
  streamEpoch = (await openStream(database.sql, { hostId, schedulerId: newId() })) ?? '';
});

const log = createLog({ process: 'test', level: 'silent' });
const GPU = '0000:10:00.0';
const report = (software: Parameters<typeof makeSoftware>[0], devices = [makeGpu(GPU)]) =>
  recordInventory({
    sql: database.sql,
    log,
    rules: HEALTH_RULES,
    hostId,
    streamEpoch,
    inventory: makeInventory({ software: makeSoftware(software), devices }),
  });
const host = async () =>
  (
    await database.sql`select h.drift, r.changed_xid::text from hosts h
      join host_revisions r on r.host_id = h.id where h.id = ${hostId}`
  )[0];
const drift = async () => (await host())?.['drift'];

it('the first inventory of a host is accepted', async () => {
  await report({ kernel: '6.1.0-25' });
  expect(await drift()).toEqual([]);
});

it('a change is drift until it is reverted, and both wake placement', async () => {
  await report({ kernel: '6.1.0-25' });
  const before = await host();
  await report({ kernel: '6.1.0-26' }, []);
  const drifted = await host();
  expect(drifted?.['drift']).toEqual(['kernel: 6.1.0-25 → 6.1.0-26', `${GPU}: gone`]);
  expect(drifted?.['changed_xid']).not.toBe(before?.['changed_xid']);
  await report({ kernel: '6.1.0-25' });
  const back = await host();
  expect(back?.['drift']).toEqual([]);
  expect(back?.['changed_xid']).not.toBe(drifted?.['changed_xid']);
});

it('acceptance takes the present facts as the new reference and wakes placement', async () => {
  await report({ kernel: '6.1.0-25' });
  await report({ kernel: '6.1.0-26' });
  const drifted = await host();
  expect(await updateAcceptedFacts(database.sql, hostId)).toBe(true);
  const accepted = await host();
  expect(accepted?.['drift']).toEqual([]);
  expect(accepted?.['changed_xid']).not.toBe(drifted?.['changed_xid']);
  await report({ kernel: '6.1.0-26', os: 'another' });
  expect(await drift()).toEqual([]);
  await report({ kernel: '6.1.0-25' });
  expect(await drift()).toEqual(['kernel: 6.1.0-26 → 6.1.0-25']);
});

it('a fact that an agent reports for the first time becomes part of the reference', async () => {
  await report({ kernel: '6.1', agent: '0.1.0' });
  await report({ kernel: '6.1', agent: '0.2.0', commandLine: 'quiet', iommu: 'translated' });
  expect(await drift()).toEqual([]);
  // An older agent again: the facts that it does not report are still known.
  await report({ kernel: '6.1', agent: '0.1.0' });
  expect(await drift()).toEqual([]);
  await report({ kernel: '6.1', agent: '0.2.0', commandLine: 'quiet', iommu: 'identity' });
  expect(await drift()).toEqual(['IOMMU: translated → identity']);
});

it('a host without stored facts is accepted as it is', async () => {
  await report({ kernel: '6.1' });
  await database.sql`update hosts set facts = null, accepted_facts = null, judged_by = '' where id = ${hostId}`;
  await report({ kernel: '6.1' });
  expect(await updateAcceptedFacts(database.sql, hostId)).toBe(true);
  await report({ kernel: '6.2' });
  expect(await drift()).toEqual(['kernel: 6.1 → 6.2']);
});
