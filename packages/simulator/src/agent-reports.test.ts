import { gpu, makeSpec, makeTakeDown, makeVm } from '@gantry/agent/testing/make-spec';
import { beforeEach, describe, expect, it } from 'vitest';
import { AgentUnderTest, until } from './testing/agent-under-test.ts';
import { DRIVES, GPUS } from './testing/make-inventory.ts';
import { bringUp, GPU_A, TRAINER } from './testing/trainer.ts';

const NO_SPACE = { code: 'host_failed', message: 'no space' };

let host: AgentUnderTest;
beforeEach(async () => {
  host = new AgentUnderTest();
  await host.start();
});

describe('a new stream', () => {
  it('starts with the inventory and every serial log, and sends the inventory once', async () => {
    await bringUp(host);
    const [first, ...others] = host.reports;
    expect(first?.inventory?.devices).toHaveLength(GPUS.length + DRIVES.length);
    expect(others.every(({ inventory }) => inventory === null)).toBe(true);
    await until(() => logsSent(host).length === 1);
    host.clock.advance(2_000);
    host.reports = [];
    host.attach();
    await until(() => host.reports.length > 0);
    expect(host.reports[0]).toMatchObject({ acceptedNumber: '1', serialLogs: [{ vmId: 'vm-1' }] });
    expect(host.reports[0]?.inventory?.devices).toHaveLength(GPUS.length + DRIVES.length);
  });

  it('reports the accepted number again when the same spec arrives again', async () => {
    await bringUp(host);
    const before = host.reports.length;
    host.send(makeSpec(1, { vms: [TRAINER] }));
    await until(() => host.reports.length > before);
    expect(host.report.acceptedNumber).toBe('1');
  });
});

describe('a VM that cannot be accepted is refused alone', () => {
  it('if it needs a GPU of another VM: that VM keeps running, and other VMs are started', async () => {
    await bringUp(host);
    const vms = [TRAINER, makeVm('thief', { devices: [gpu(GPU_A)] }), makeVm('other')];
    host.send(makeSpec(2, { vms }));
    await host.untilState('other', '1', 'RUNNING');
    expect(host.report).toMatchObject({ acceptedNumber: '2', refusal: null });
    expect(host.vm('thief')).toMatchObject({
      ...{ state: 'VM_OBSERVED_STATE_FAILED', failure: { code: 'device_in_use' } },
    });
    expect(host.driver.hypervisor.domain('thief')).toBeUndefined();
    expect(host.driver.disks.ids()).not.toContain('thief-os');
    expect(host.driver.devices.isBoundTo(GPU_A, 'vm-1')).toBe(true);
  });
});

describe('a refused spec changes nothing', () => {
  it('if its number is too low: it is reported as stale until a valid spec arrives', async () => {
    host.send(makeSpec(5, { vms: [TRAINER] }));
    await host.untilState('vm-1', '1', 'RUNNING');
    host.send(makeSpec(4, { takeDowns: [makeTakeDown('vm-1')] }));
    await until(() => host.report.refusal?.failure?.code === 'stale_number');
    expect(host.report).toMatchObject({ acceptedNumber: '5', refusal: { number: '4' } });
    expect(host.driver.hypervisor.domain('vm-1')?.state).toBe('running');
    host.send(makeSpec(6, { vms: [TRAINER] }));
    await until(() => host.report.acceptedNumber === '6');
    expect(host.report.refusal).toBeNull();
  });

  it('if the agent has restarted: the ledger still has the higher number', async () => {
    await bringUp(host);
    host.kill();
    await host.start();
    host.send({ ...makeSpec(1, { takeDowns: [makeTakeDown('vm-1')] }), number: '0' });
    await until(() => host.report.refusal?.failure?.code === 'bad_spec');
  });

  it('while the host does not reply, and it is tried again', async () => {
    await bringUp(host);
    host.driver.faults.failNext('list_devices', 1, NO_SPACE);
    host.send(makeSpec(2, { vms: [TRAINER] }));
    await until(() => host.report.refusal?.failure?.code === 'host_failed');
    host.clock.advance(1_000);
    await until(() => host.report.acceptedNumber === '2');
    expect(host.report.refusal).toBeNull();
  });
});

describe('serial logs', () => {
  it('are part of reports when they have grown, at most every two seconds', async () => {
    await bringUp(host);
    await until(() => logsSent(host).length === 1);
    expect(logsSent(host)[0]).toContain('vm-1 login:');
    host.driver.hypervisor.print('vm-1', 'one\n');
    host.driver.hypervisor.print('vm-1', 'two\n');
    await until(() => host.clock.waiting > 0);
    expect(logsSent(host)).toHaveLength(1);
    host.clock.advance(2_000);
    await until(() => logsSent(host).length === 2);
    expect(logsSent(host)[1]).toMatch(/one\ntwo\n$/);
  });
});

function logsSent({ reports }: AgentUnderTest): string[] {
  return reports.flatMap((report) => report.serialLogs ?? []).map((log) => log.tail ?? '');
}

describe('a report', () => {
  it('that could not be built is built again after a pause', async () => {
    await bringUp(host);
    host.driver.faults.failNext('list_domains', 1, NO_SPACE);
    host.reports = [];
    host.attach();
    await until(() => host.clock.waiting > 0);
    expect(host.reports).toEqual([]);
    host.clock.advance(1_000);
    await until(() => host.reports.length === 1);
    expect(host.report.inventory).not.toBeNull();
  });

  it('is not sent while nothing changes', async () => {
    await bringUp(host);
    await until(() => logsSent(host).length === 1);
    const before = host.reports.length;
    host.clock.advance(3_600_000);
    expect(host.clock.waiting).toBe(0);
    expect(host.reports).toHaveLength(before);
  });
});
