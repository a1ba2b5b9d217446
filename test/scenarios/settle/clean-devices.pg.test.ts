import type { HostReport } from '@gantry/scheduler/attached/host-report';
import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import { failure, type HandDrivenHost, wordOn } from '@gantry/testkit/hosts/hand-driven-host';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

let cloud: Cloud;
let host: HandDrivenHost;
beforeAll(async () => {
  cloud = await startCloud();
});
afterAll(() => cloud.stop());
beforeEach(async () => {
  host = await cloud.addHandDrivenHost({ gpus: 1 });
});

const claimed = async (vmId: string) =>
  (
    await cloud.sql`select d.kind from device_claims c join devices d on d.id = c.device_id
      where c.vm_id = ${vmId} order by d.kind`
  ).map(({ kind }) => kind);
const receiptsOf = async (vmId: string) =>
  (await cloud.sql`select kind from device_receipts where vm_id = ${vmId} order by number`).map(
    ({ kind }) => kind,
  );
const takeDownOf = async (vmId: string) =>
  (await host.spec()).takeDowns?.find(({ id }) => id === vmId);

/** The host has cleaned the GPU and still erases the drive. */
const reportGpuClean = (vmId: string, change: (report: HostReport) => void = () => {}) =>
  host.obey((report) => {
    wordOn(report, vmId).state = 'VM_OBSERVED_STATE_WORKING';
    report.receipts = report.receipts.filter(({ kind }) => kind === 'gpu');
    change(report);
  });

describe('while a VM is being deleted', () => {
  it('each device is free as soon as its receipt is there, and the operation ends with the last', async () => {
    const id = await cloud.runVm(host);
    const { operationId } = await cloud.request('DELETE', `/vms/${id}`);
    const before = await host.number();
    await reportGpuClean(id);
    expect(await claimed(id)).toEqual(['drive']);
    expect(await receiptsOf(id)).toEqual(['gpu']);
    expect(await host.number()).toBeGreaterThan(before);
    expect((await takeDownOf(id))?.devices).toMatchObject([{ kind: 'drive' }]);
    expect(await cloud.vmState(id)).toBe('STATE_DELETING');
    expect(await cloud.operation(operationId)).toMatchObject({ state: 'IN_PROGRESS' });
    await host.obey();
    expect(await cloud.operation(operationId)).toMatchObject({ state: 'SUCCEEDED' });
    expect(await cloud.vmState(id)).toBe('gone');
    expect(await receiptsOf(id)).toEqual(['gpu', 'drive']);
  });

  it('a report that is repeated stores no second receipt and changes no spec', async () => {
    const id = await cloud.runVm(host);
    await cloud.request('DELETE', `/vms/${id}`);
    const report = await reportGpuClean(id);
    const number = await host.number();
    await host.report(report);
    expect(await receiptsOf(id)).toEqual(['gpu']);
    expect(await host.number()).toBe(number);
  });

  it('another VM gets the GPU, and the end of the first removal leaves it there', async () => {
    const id = await cloud.runVm(host);
    await cloud.request('DELETE', `/vms/${id}`);
    const early = await reportGpuClean(id);
    const { id: next } = await cloud.createVm();
    await cloud.place(next, host);
    expect(await claimed(next)).toEqual(['gpu']);
    expect(await claimed(id)).toEqual(['drive']);
    await host.obey((report) => report.receipts.push(...early.receipts));
    expect(await cloud.vmState(id)).toBe('gone');
    expect(await claimed(next)).toEqual(['gpu']);
    expect(await receiptsOf(id)).toEqual(['gpu', 'drive']);
  });

  it('a GPU that could not be cleaned is quarantined at once', async () => {
    const id = await cloud.runVm(host);
    await cloud.request('DELETE', `/vms/${id}`);
    await reportGpuClean(id, (report) => {
      for (const receipt of report.receipts) receipt.failure = failure('reset_failed');
    });
    expect(
      await cloud.sql`select state from devices where kind = 'gpu' and host_id = ${host.id}`,
    ).toMatchObject([{ state: 'quarantined' }]);
  });

  it('a receipt of another take-down, or one that proves nothing, frees no device', async () => {
    const id = await cloud.runVm(host);
    await cloud.request('DELETE', `/vms/${id}`);
    const report = await reportGpuClean(id, ({ receipts }) => {
      for (const receipt of receipts) receipt.revision = String(Number(receipt.revision) - 1);
    });
    for (const receipt of report.receipts) receipt.revision = String(Number(receipt.revision) + 1);
    await host.report(report, { isAccepted: false });
    expect(await claimed(id)).toEqual(['drive', 'gpu']);
    await host.report(report);
    expect(await claimed(id)).toEqual(['drive']);
  });
});

it('a VM that is being stopped keeps all devices until it is gone, because it can be started again', async () => {
  const id = await cloud.runVm(host);
  await cloud.request('PATCH', `/vms/${id}`, { action: 'STOP' });
  await reportGpuClean(id);
  expect(await claimed(id)).toEqual(['drive', 'gpu']);
  expect(await receiptsOf(id)).toEqual([]);
});
