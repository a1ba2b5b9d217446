import { readHostSpecs } from '@gantry/db/queries/hosts/host-specs';
import { readDifferences } from '@gantry/db/queries/maintenance/differences';
import { beginEra } from '@gantry/db/queries/maintenance/era';
import { newId } from '@gantry/model/ids';
import type { HostReport } from '@gantry/scheduler/attached/host-report';
import { compareHost } from '@gantry/scheduler/settle/compare-host';
import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import { type HandDrivenHost, wordOn } from '@gantry/testkit/hosts/hand-driven-host';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';

/** A new era begins, and a host reports what it had before it gets a spec of the era. */
let cloud: Cloud;
let host: HandDrivenHost;
beforeAll(async () => {
  cloud = await startCloud();
});
afterAll(() => cloud.stop());
beforeEach(async () => {
  host = await cloud.addHandDrivenHost();
});

async function compare(report: HostReport): Promise<boolean> {
  return await compareHost({ sql: cloud.sql, hostId: host.id, streamEpoch: host.epoch, report });
}

/** Begins an era after the host has reported `change` of its desired state. */
async function compareInNewEra(change: (report: HostReport) => void): Promise<void> {
  const report = await host.done();
  change(report);
  await beginEra(cloud.sql, { evenIfCurrent: true });
  expect(await compare(report)).toBe(true);
}

async function listChanged() {
  const [row] = await cloud.sql`select era, (select name from hosts where id = ${host.id}) as name
    from installation`;
  const { changed } = await readDifferences(cloud.sql, row?.['era']);
  return changed
    .filter((change) => change.host === row?.['name'])
    .map(({ kind, vm_id, disk_id, outcome }) => ({ kind, vm_id, disk_id, outcome }));
}

const eventsOf = async (vmId: string) =>
  (await cloud.sql`select type from events where resource_id = ${vmId}`).map(({ type }) => type);

it('a host that was compared once gets specs, and is not compared again in the era', async () => {
  const awaits = async () =>
    (await readHostSpecs(cloud.sql, [host.id])).map((row) => row.awaits_comparison);
  await compareInNewEra(() => {});
  expect(await awaits()).toEqual([false]);
  expect(await compare(await host.done())).toBe(false);
  await beginEra(cloud.sql, { evenIfCurrent: true });
  expect(await awaits()).toEqual([true]);
});

it('a host that has what the database has differs in nothing', async () => {
  await cloud.runVm(host);
  await compareInNewEra(() => {});
  expect(await listChanged()).toEqual([]);
});

it('a VM that its host did not run is listed with what became of it, and its project is told', async () => {
  const [started, lost] = [await cloud.runVm(host), await cloud.runVm(host)];
  await compareInNewEra((report) => {
    wordOn(report, started).state = 'VM_OBSERVED_STATE_TAKEN_DOWN';
    report.vms = report.vms.filter(({ id }) => id !== lost);
  });
  const absent = { kind: 'absent', disk_id: null };
  expect(await listChanged()).toEqual([
    { ...absent, vm_id: started, outcome: 'pending' },
    { ...absent, vm_id: lost, outcome: 'pending' },
  ]);
  const failure = { code: 'disk_missing', message: 'its disk is gone', sinceMs: '1' };
  await host.say(lost, { state: 'VM_OBSERVED_STATE_FAILED', failure });
  expect(await listChanged()).toEqual([
    { ...absent, vm_id: started, outcome: 'started' },
    { ...absent, vm_id: lost, outcome: 'lost' },
  ]);
  expect(await eventsOf(started)).toEqual(['vm_restored']);
  expect(await eventsOf(lost)).toEqual(['vm_lost']);
});

it('a VM that its host started or reset later is listed', async () => {
  const vmId = await cloud.runVm(host);
  await compareInNewEra((report) => {
    wordOn(report, vmId).generation = '9';
  });
  expect(await listChanged()).toEqual([
    { kind: 'ahead', vm_id: vmId, disk_id: null, outcome: 'none' },
  ]);
});

it('disks that a host attached, detached or has alone are listed', async () => {
  const vmId = await cloud.runVm(host);
  const [attached, alone] = [newId(), newId()];
  let detached: string | undefined;
  await compareInNewEra((report) => {
    const word = wordOn(report, vmId);
    detached = word.disks[0]?.id;
    word.disks = [{ id: attached, sizeBytes: '1' }];
    report.disks = [attached, alone, 'not-an-id'].map((id) => ({ id, sizeBytes: '1' }));
  });
  const difference = { vm_id: vmId, outcome: 'none' };
  expect(await listChanged()).toEqual([
    { ...difference, kind: 'disk_attached', disk_id: attached },
    { ...difference, kind: 'disk_detached', disk_id: detached },
    { ...difference, kind: 'disk_unknown', disk_id: alone, vm_id: null },
  ]);
});
