import { recordStrayHost } from '@gantry/db/queries/hosts/host-certificates';
import { readHostSpecs } from '@gantry/db/queries/hosts/host-specs';
import { readDifferences } from '@gantry/db/queries/maintenance/differences';
import { beginEra } from '@gantry/db/queries/maintenance/era';
import { newId } from '@gantry/model/ids';
import type { HostReport } from '@gantry/scheduler/attached/host-report';
import { describeDifferences } from '@gantry/scheduler/restore/describe-differences';
import { compareHost } from '@gantry/scheduler/settle/compare-host';
import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import { countWaiting } from '@gantry/testkit/database/other-process';
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

async function compare(report: HostReport, isAhead = false): Promise<boolean> {
  const { id: hostId, epoch: streamEpoch } = host;
  return await compareHost({ sql: cloud.sql, hostId, streamEpoch, report, isAhead });
}

/** Begins an era after the host has reported `change` of its desired state. */
async function compareInNewEra(change: (report: HostReport) => unknown): Promise<void> {
  const report = await host.done();
  await change(report);
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

/** Returns the lines about this host that an operator reads. */
async function describeHost(): Promise<string[]> {
  const [row] = await cloud.sql`select era, (select name from hosts where id = ${host.id}) as name
    from installation`;
  const lines = describeDifferences(await readDifferences(cloud.sql, row?.['era']));
  return lines.filter((line) => line.includes(`host ${row?.['name']} `));
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

it('a host that is ahead although no era has begun is compared too, and the next era lists it', async () => {
  const vmId = await cloud.runVm(host);
  const report = await host.done();
  wordOn(report, vmId).generation = '9';
  expect(await compare(report)).toBe(false);
  expect(await compare(report, true)).toBe(true);
  expect(await compare(report, true)).toBe(true);
  await beginEra(cloud.sql, { evenIfCurrent: true });
  expect(await listChanged()).toEqual([
    { kind: 'ahead', vm_id: vmId, disk_id: null, outcome: 'none' },
  ]);
});

it('a host that is ahead again and again records a limited number of differences', async () => {
  const vmId = await cloud.runVm(host);
  const report = await host.done();
  for (let times = 0; times < 7; times++) {
    wordOn(report, vmId).disks = Array.from({ length: 900 }, () => ({
      ...{ id: newId(), sizeBytes: '1' },
    }));
    await compare(report, true);
  }
  const [row] =
    await cloud.sql`select count(*)::int as rows from era_differences where host_id = ${host.id}`;
  expect(row).toEqual({ rows: 5_000 });
});

it('disks of stopped VMs and of none that the host does not have are listed, also with their VM', async () => {
  const vmId = await cloud.runVm(host);
  const [disk] = await cloud.sql`select disk_id as id from disk_attachments where vm_id = ${vmId}`;
  await cloud.request('PATCH', `/vms/${vmId}`, { action: 'STOP' });
  await host.obey();
  const [kept, gone, alone] = [newId(), newId(), newId()];
  for (const id of [kept, gone])
    await cloud.sql`insert into disks (id, project_id, kind, name, type, size, size_gib, location, block_size,
        serial_number, observed_size_gib, host_id)
      select ${id}, project_id, 'data', ${id}, type, size, size_gib, location, block_size, ${id}, size_gib, host_id
      from disks where id = ${disk?.['id']}`;
  await compareInNewEra((report) => {
    report.storedDisks = { ids: [kept, alone, 'not-an-id'] };
  });
  const difference = { outcome: 'none', vm_id: null };
  const found = await listChanged();
  expect(found).toHaveLength(3);
  expect(found).toContainEqual({
    ...difference,
    kind: 'disk_missing',
    disk_id: disk?.['id'],
    vm_id: vmId,
  });
  expect(found).toContainEqual({ ...difference, kind: 'disk_missing', disk_id: gone });
  expect(found).toContainEqual({ ...difference, kind: 'disk_unknown', disk_id: alone });
});

it('a VM that was renamed, and a disk that was grown, since the backup are listed', async () => {
  const vmId = await cloud.runVm(host);
  const [disk] =
    await cloud.sql`select d.id, d.size_gib from disks d join disk_attachments a on a.disk_id = d.id
    where a.vm_id = ${vmId}`;
  await cloud.sql`update vms set name = 'later' where id = ${vmId}`;
  await cloud.sql`update disks set size_gib = size_gib + 1 where id = ${disk?.['id']}`;
  await compareInNewEra(async () => {
    await cloud.sql`update vms set name = 'earlier' where id = ${vmId}`;
    await cloud.sql`update disks set size_gib = ${disk?.['size_gib']} where id = ${disk?.['id']}`;
  });
  const difference = { vm_id: vmId, outcome: 'none' };
  expect(await listChanged()).toEqual([
    { ...difference, kind: 'disk_grown', disk_id: disk?.['id'] },
    { ...difference, kind: 'vm_changed', disk_id: null },
  ]);
});

it('a host that reported just before an era began is compared in this era', async () => {
  const vmId = await cloud.runVm(host);
  const report = await host.done();
  wordOn(report, vmId).generation = '9';
  let comparing: Promise<boolean> | undefined;
  const era = await cloud.sql.begin(async (tx) => {
    await tx`select from hosts where id = ${host.id} for update`;
    comparing = compare(report, true);
    await expect.poll(() => countWaiting(cloud.sql)).toBe(1);
    await tx`update hosts set awaits_comparison = true where id = ${host.id}`;
    const [begun] = await tx`update installation set era = era + 1 returning era`;
    return begun?.['era'];
  });
  expect(await comparing).toBe(true);
  expect(
    await cloud.sql`select kind, era from era_differences where host_id = ${host.id}`,
  ).toMatchObject([{ kind: 'ahead', era }]);
});

it('a network whose rules or subnets changed since the backup is listed with its project', async () => {
  const vmId = await cloud.runVm(host);
  const [network] =
    await cloud.sql`select n.network_id as id, v.project_id from network_interfaces n
    join vms v on v.id = n.vm_id where v.id = ${vmId}`;
  await cloud.request('POST', '/vpc/firewall-rules', {
    ...{ name: 'web', vpc_network_id: network?.['id'], direction: 'ingress', action: 'allow' },
    ...{ protocols: ['tcp'], sources: [], destinations: [], destination_ports: ['443'] },
  });
  await host.obey();
  await compareInNewEra(() => cloud.sql`delete from firewall_rules where name = 'web'`);
  expect(await describeHost()).toContainEqual(
    expect.stringContaining(
      `other rules or subnets of network ${network?.['id']} of project ${network?.['project_id']}`,
    ),
  );
});

it('a report of an agent that does not report contents is not compared by them', async () => {
  const vmId = await cloud.runVm(host);
  await compareInNewEra(async (report) => {
    wordOn(report, vmId).contentHash = '';
    report.networks = [];
    await cloud.sql`update vms set name = 'of the backup' where id = ${vmId}`;
  });
  expect(await listChanged()).toEqual([]);
});

it('a host that has not returned is listed with the number of its VMs', async () => {
  await cloud.runVm(host);
  await beginEra(cloud.sql, { evenIfCurrent: true });
  expect(await describeHost()).toEqual([
    expect.stringMatching(/^host .* \(VMs: 1\) has not accepted its spec: it is ready$/),
  ]);
});

it('a host of the fleet that the database does not know is listed with its address', async () => {
  const hostId = newId();
  const { era } = await beginEra(cloud.sql, { evenIfCurrent: true });
  const issuedAt = new Date(Date.now() - 3_600_000);
  await recordStrayHost(cloud.sql, { hostId, issuedAt, address: '10.0.0.5:41234' });
  const lines = describeDifferences(await readDifferences(cloud.sql, era));
  expect(lines).toContainEqual(
    `stray: the host at 10.0.0.5:41234 has a certificate of host ${hostId}, which is not in the database`,
  );
});
