import { newId } from '@gantry/model/ids';
import type { HostReport, VmReport } from '@gantry/scheduler/attached/host-report';
import { compareHost } from '@gantry/scheduler/settle/compare-host';
import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import { allRows } from '@gantry/testkit/database/all-rows';
import type { HandDrivenHost } from '@gantry/testkit/hosts/hand-driven-host';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';

/**
 * An enrolled host that lies must change nothing that is not its own. Its reports name VMs, disks,
 * devices, networks and projects of others in every field that can name something.
 */
const seed = Number(process.env['GANTRY_PROPERTY_SEED'] ?? '1');
const RUNS = Number(process.env['GANTRY_PROPERTY_RUNS'] ?? '150');

let cloud: Cloud;
let liar: HandDrivenHost;
/** Ids of what belongs to the liar, and of what it may name. */
let own: Set<string>;
let names: { ids: string[]; addresses: string[]; ips: string[] };

beforeAll(async () => {
  cloud = await startCloud();
  const { sql } = cloud;
  liar = await cloud.addHandDrivenHost({ gpus: 2 });
  const honest = await cloud.addHandDrivenHost({ gpus: 2 });
  const elsewhere = await cloud.addHandDrivenHost({ gpus: 2, sharedStorage: true });
  const ownVm = await cloud.runVm(liar);
  await cloud.runVm(honest);
  await cloud.runVm(elsewhere);
  await cloud.createDisk();
  await cloud.createDisk('shared-volume');
  await cloud.createVm();
  own = new Set([
    ...[liar.id, ownVm],
    ...(await idsOf(sql`select id from devices where host_id = ${liar.id}`)),
    ...(await idsOf(sql`select disk_id as id from disk_attachments where vm_id = ${ownVm}`)),
    ...(await idsOf(sql`select id from network_interfaces where vm_id = ${ownVm}`)),
    ...(await idsOf(sql`select id from operations where resource_id = ${ownVm}`)),
  ]);
  names = {
    ids: [
      ...(await idsOf(sql`select id from vms union select id from disks union select id from devices
        union select id from hosts union select id from networks union select id from projects
        union select id from network_interfaces union select id from operations`)),
      ...[newId(), 'not-an-id', ''],
    ],
    addresses: (await sql`select distinct pci_address from devices`).map(
      (row) => row['pci_address'],
    ),
    ips: ['10.0.0.1', '172.27.0.2/24', '::1', '', 'not-an-address'],
  };
});
afterAll(() => cloud.stop());

async function idsOf(rows: PromiseLike<readonly Record<string, unknown>[]>): Promise<string[]> {
  return (await rows).map((row) => String(row['id']));
}

/** The rows that do not name anything of the liar. */
async function rowsOfOthers(): Promise<unknown> {
  const tables = Object.entries(await allRows(cloud.sql));
  const orphans = await idsOf(cloud.sql`select id from orphans where host_id = ${liar.id}`);
  const ownIds = [...own, ...orphans];
  const isOwn = (row: unknown) => {
    const text = JSON.stringify(row, (_key, value) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    return ownIds.some((id) => text.includes(id));
  };
  return tables.map(([table, rows]) => [table, rows.filter((row) => !isOwn(row))]);
}

const counters = ['0', '1', '2', '3', '9007199254740993', '18446744073709551615'];
const states = [
  ...(['WORKING', 'RUNNING', 'CRASHED', 'FAILED', 'TAKEN_DOWN', 'UNKNOWN'] as const),
].map((state) => `VM_OBSERVED_STATE_${state}` as const);

/** Built when it is used, because the names are known only then. */
function lies(): fc.Arbitrary<Partial<HostReport>> {
  const id = fc.constantFrom(...names.ids);
  const counter = fc.constantFrom(...counters);
  const address = fc.constantFrom(...names.addresses, 'x', '');
  const ip = fc.constantFrom(...names.ips);
  const text = fc.constantFrom('', 'a', '\0', "'; drop table vms; --", 'x'.repeat(300));
  const kind = fc.constantFrom('gpu', 'drive', 'hca', '');
  const failure = fc.option(fc.record({ code: text, message: text, sinceMs: counter }));
  const disk = fc.record({
    id,
    sizeBytes: fc.constantFrom('0', '1', '10737418240', '1e400', '-5'),
  });
  const device = fc.record({ kind, address });
  const iface = fc.record({
    ...{ id, networkId: id, mac: text, privateIpv4: ip, gatewayIpv4: ip, publicIpv4: ip },
  });
  const known = fc.record({
    ...{ id, revision: counter, generation: counter, name: text, projectId: id, type: text },
    ...{ imageId: id, devices: fc.array(device, { maxLength: 3 }) },
    ...{ disks: fc.array(disk, { maxLength: 3 }), interfaces: fc.array(iface, { maxLength: 3 }) },
  });
  const vm = fc.record({
    ...{ id, revision: counter, generation: counter, state: fc.constantFrom(...states), failure },
    ...{ disks: fc.array(disk, { maxLength: 3 }), known: fc.option(known), contentHash: text },
  });
  const receipt = fc.record({
    ...{ vmId: id, revision: counter, kind, pciAddress: address, serial: text, method: text },
    ...{ finishedMs: fc.constantFrom('0', '1900000000000', '1e30'), failure },
    properties: fc.array(fc.record({ name: text, state: text, detail: text }), { maxLength: 3 }),
  });
  return fc.record({
    ...{ acceptedNumber: counter, firewallNumber: counter, deletedDisks: fc.array(id) },
    refusal: fc.option(fc.record({ number: counter, failure })) as fc.Arbitrary<
      HostReport['refusal']
    >,
    vms: fc.array(vm, { maxLength: 6 }) as unknown as fc.Arbitrary<VmReport[]>,
    receipts: fc.array(receipt, { maxLength: 4 }) as unknown as fc.Arbitrary<
      HostReport['receipts']
    >,
    disks: fc.array(disk, { maxLength: 4 }),
    networks: fc.array(fc.record({ id, contentHash: text }), { maxLength: 3 }),
    storedDisks: fc.option(
      fc.record({ ids: fc.array(fc.oneof(id, text), { maxLength: 4 }) }),
    ) as fc.Arbitrary<HostReport['storedDisks']>,
    serialLogs: fc.array(fc.record({ vmId: id, tail: text }), { maxLength: 3 }),
  });
}

it('whatever a host reports, nothing changes that is not its own', async () => {
  const before = await rowsOfOthers();
  const honest = await liar.done();
  let settled = 0;
  await fc.assert(
    fc.asyncProperty(lies(), fc.boolean(), async (lie, isAccepted) => {
      // A report that cannot be settled is set aside; it must not change anything either.
      const outcome = await liar.report({ ...honest, ...lie }, { isAccepted }).then(
        () => 'settled' as const,
        (error: unknown) => error,
      );
      if (outcome === 'settled') settled += 1;
      await cloud.sql`update hosts set awaits_comparison = true where id = ${liar.id}`;
      const { id: hostId, epoch: streamEpoch } = liar;
      const report = { ...honest, ...lie };
      await compareHost({ sql: cloud.sql, hostId, streamEpoch, report, isAhead: !isAccepted });
      expect(await rowsOfOthers()).toEqual(before);
    }),
    { seed, numRuns: RUNS, endOnFailure: true },
  );
  // Most lies have the form of a report, and are settled.
  expect(settled).toBeGreaterThan(RUNS / 4);
});
