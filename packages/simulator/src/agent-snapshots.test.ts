import type { HostSpec } from '@gantry/agent/spec';
import { makeDisk, makeSpec, makeTakeDown, makeVm } from '@gantry/agent/testing/make-spec';
import { beforeEach, describe, expect, it } from 'vitest';
import { AgentUnderTest, until } from './testing/agent-under-test.ts';
import { DyingAgent } from './testing/dying-agent.ts';

const DATA = makeDisk('data');
const VM = makeVm('vm-1', { disks: [makeDisk('vm-1-os'), DATA] });
const COPY_MS = 10_000;

let host: AgentUnderTest;
let number = 0;
const send = (spec: Partial<HostSpec> = {}) => {
  number += 1;
  host.send(makeSpec(number, { vms: [VM], ...spec }));
};
const order = (id = 's1', frozen = false) => ({ id, diskId: 'data', frozen });
const copyOf = (id: string, snapshotId = 's1') => ({ disk: makeDisk(id), snapshotId });
const restoreOf = (id: string) => ({
  ...{ id, diskId: 'data', snapshotId: 's1', sizeBytes: DATA.sizeBytes },
});
const stateOf = (id = 's1') => host.report.snapshots?.find((each) => each.id === id)?.state;
const untilReported = (state: string, id = 's1') =>
  until(
    () => stateOf(id) === `SNAPSHOT_STATE_${state}`,
    () => `${id} is not ${state}: ${JSON.stringify(host.report.snapshots)}`,
  );
const contentOf = (snapshotId: string) => host.driver.disks.snapshots.get(snapshotId)?.content;
const untilAccepted = () => until(() => host.report.acceptedNumber === String(number));
/** The VM is stopped and its disks stay. */
const stopVm = async () => {
  send({ vms: [], takeDowns: [makeTakeDown('vm-1')] });
  await host.untilState('vm-1', '2', 'TAKEN_DOWN');
  send({ vms: [] });
  await untilAccepted();
};

beforeEach(async () => {
  number = 0;
  host = new AgentUnderTest();
  await host.start();
  send();
  await host.untilState('vm-1', '1', 'RUNNING');
  host.driver.disks.write('data', 'first');
});

describe('a snapshot of a disk', () => {
  it('of a running guest has the content of the moment at which it was taken', async () => {
    host.driver.behave({ copyMs: COPY_MS });
    send({ snapshots: [order()] });
    await untilReported('TAKEN');
    host.driver.disks.write('data', 'later');
    expect(host.driver.disks.snapshots.size).toBe(0);
    host.clock.advance(COPY_MS);
    await untilReported('READY');
    expect(contentOf('s1')).toBe('first');
  });

  it('that no guest has open is made without the hypervisor', async () => {
    await stopVm();
    host.driver.faults.hang('copy_disk');
    send({ vms: [], snapshots: [order()] });
    await untilReported('READY');
    expect(contentOf('s1')).toBe('first');
  });

  it('is made although the VM is stopped while it is copied', async () => {
    host.driver.behave({ copyMs: COPY_MS });
    send({ snapshots: [order()] });
    await untilReported('TAKEN');
    host.driver.behave({ copyMs: 0 });
    send({ vms: [], takeDowns: [makeTakeDown('vm-1')], snapshots: [order()] });
    await host.untilState('vm-1', '2', 'TAKEN_DOWN');
    await until(() => {
      host.clock.advance(500);
      return stateOf() === 'SNAPSHOT_STATE_READY';
    });
    expect(contentOf('s1')).toBe('first');
  });

  it('is not made again and stays when its order is gone, until its removal is ordered', async () => {
    send({ snapshots: [order()] });
    await untilReported('READY');
    host.driver.disks.write('data', 'later');
    send();
    await until(() => host.report.snapshots?.length === 0);
    send({ snapshots: [order()] });
    await untilReported('READY');
    expect(contentOf('s1')).toBe('first');
    send({ deletedSnapshots: ['s1'] });
    await until(() => host.report.deletedSnapshots?.[0] === 's1');
    expect(host.driver.disks.snapshots.size).toBe(0);
  });

  it('whose order is gone meanwhile is not completed, and what was copied is removed', async () => {
    host.driver.behave({ copyMs: COPY_MS });
    send({ snapshots: [order()] });
    await untilReported('TAKEN');
    send({ deletedSnapshots: ['s1'] });
    await until(() => host.report.deletedSnapshots?.[0] === 's1');
    host.clock.advance(COPY_MS);
    send();
    await untilAccepted();
    expect(host.driver.disks.snapshots.size).toBe(0);
  });

  it('of a missing disk fails for good, and other failures are repeated with their reason', async () => {
    const { faults } = host.driver;
    faults.failNext('copy_disk', 2, { code: 'host_failed', message: 'libvirt is away' });
    send({ snapshots: [order(), { id: 's2', diskId: 'missing', frozen: false }] });
    await untilReported('FAILED', 's2');
    await until(() => host.report.snapshots?.[0]?.failure?.message === 'libvirt is away');
    expect(stateOf()).toBe('SNAPSHOT_STATE_WORKING');
    await until(() => {
      host.clock.advance(500);
      return stateOf() === 'SNAPSHOT_STATE_READY';
    });
    expect(host.report.snapshots?.[1]?.failure?.code).toBe('disk_missing');
  });

  it('is among the stored snapshots of the first report of a stream, whatever the spec names', async () => {
    send({ snapshots: [order()] });
    await untilReported('READY');
    send();
    await untilAccepted();
    const before = host.reports.length;
    host.attach();
    await until(() => host.reports.length > before);
    expect(host.reports[before]?.storedSnapshots).toEqual({ ids: ['s1'] });
    expect(host.report.storedDisks?.ids).not.toContain('s1');
  });
});

describe('a snapshot of a frozen guest', () => {
  const freezes = [{ id: 's1', vmId: 'vm-1', release: false, timeLimitSeconds: 20 }];
  const untilFrozen = () => until(() => host.report.freezes?.[0]?.state === 'FREEZE_STATE_FROZEN');

  it('is taken while the guest is frozen, which need not wait for the copy', async () => {
    host.driver.behave({ copyMs: COPY_MS });
    send({ freezes });
    await untilFrozen();
    send({ freezes, snapshots: [order('s1', true)] });
    await untilReported('TAKEN');
    send({
      freezes: freezes.map((each) => ({ ...each, release: true })),
      snapshots: [order('s1', true)],
    });
    await until(() => host.report.freezes?.[0]?.state === 'FREEZE_STATE_RELEASED');
    host.driver.disks.write('data', 'later');
    host.clock.advance(COPY_MS);
    await untilReported('READY');
    expect(contentOf('s1')).toBe('first');
  });

  it('is not made of a guest that was thawed', async () => {
    send({ snapshots: [order('s1', true)] });
    await untilReported('FAILED');
    expect(host.report.snapshots?.[0]?.failure?.code).toBe('freeze_failed');
    expect(host.driver.disks.snapshots.size).toBe(0);
  });

  it('goes on after a crash of the agent if its moment has passed, and fails if not', async () => {
    host.driver.behave({ copyMs: COPY_MS });
    send({ freezes });
    await untilFrozen();
    send({ freezes, snapshots: [order('s1', true)] });
    await untilReported('TAKEN');
    host.kill();
    host.driver.disks.write('data', 'later');
    await host.start();
    await untilReported('TAKEN');
    host.clock.advance(COPY_MS);
    await untilReported('READY');
    expect(contentOf('s1')).toBe('first');
  });
});

describe('a disk', () => {
  beforeEach(async () => {
    send({ snapshots: [order()] });
    await untilReported('READY');
    host.driver.disks.write('data', 'later');
  });

  it('from a snapshot is reported with its size when it has the content', async () => {
    host.driver.behave({ copyMs: COPY_MS });
    send({ diskCopies: [copyOf('copy')] });
    await untilAccepted();
    expect(host.report.disks?.some(({ id }) => id === 'copy')).toBe(false);
    host.clock.advance(COPY_MS);
    await until(() => host.report.disks?.some(({ id }) => id === 'copy') ?? false);
    expect(host.driver.disks.content('copy')).toBe('first');
  });

  it('from a missing snapshot is never created, and the reason is reported', async () => {
    send({ diskCopies: [copyOf('copy', 'missing')] });
    await until(() => host.report.diskCopies?.[0]?.givenUp === true);
    expect(host.report.diskCopies?.[0]?.failure?.code).toBe('snapshot_missing');
    expect(host.driver.disks.sizeBytes('copy')).toBeNull();
  });

  it('is set back once for each order, also if the order comes again', async () => {
    await stopVm();
    send({ vms: [], diskRestores: [restoreOf('r1')] });
    await until(() => host.report.diskRestores?.[0]?.id === 'r1');
    expect(host.report.diskRestores?.[0]?.failure ?? null).toBeNull();
    expect(host.driver.disks.content('data')).toBe('first');
    host.driver.disks.write('data', 'of the guest');
    send({ vms: [] });
    await untilAccepted();
    host.kill();
    await host.start();
    send({ vms: [], diskRestores: [restoreOf('r1')] });
    await until(() => host.report.diskRestores?.[0]?.id === 'r1');
    expect(host.driver.disks.content('data')).toBe('of the guest');
    send({ vms: [], diskRestores: [restoreOf('r2')] });
    await until(() => host.report.diskRestores?.[0]?.id === 'r2');
    expect(host.driver.disks.content('data')).toBe('first');
  });

  it('that a VM has is not set back', async () => {
    send({ diskRestores: [restoreOf('r1')] });
    await until(() => host.report.diskRestores?.[0]?.failure?.code === 'disk_in_use');
    expect(host.driver.disks.content('data')).toBe('later');
  });
});

describe('an agent that dies at any change', () => {
  const orders = {
    vms: [],
    snapshots: [order('s2')],
    deletedSnapshots: ['s1'],
    diskCopies: [copyOf('copy', 's0')],
    diskRestores: [{ ...restoreOf('r1'), snapshotId: 's0', diskId: 'other' }],
  };
  const isDone = () =>
    stateOf('s2') === 'SNAPSHOT_STATE_READY' &&
    host.report.deletedSnapshots?.[0] === 's1' &&
    host.report.diskRestores?.[0]?.id === 'r1' &&
    (host.report.disks?.some(({ id }) => id === 'copy') ?? false);
  const prepare = async () => {
    send({ snapshots: [order('s0'), order('s1')] });
    await untilReported('READY', 's0');
    await untilReported('READY', 's1');
    await stopVm();
    host.driver.disks.create(makeDisk('other'), 'later');
    host.kill();
  };

  it.each(
    Array.from({ length: 8 }, (_, index) => index + 1).flatMap((dieAt) => [
      { dieAt, when: 'before' as const },
      { dieAt, when: 'after' as const },
    ]),
  )('$when change $dieAt leaves what the next one completes', async ({ dieAt, when }) => {
    await prepare();
    const dying = new DyingAgent(host, dieAt, when);
    await host.start({ driver: dying.driver, ledger: dying.ledger });
    send(orders);
    await until(() => host.agent === null || isDone());
    expect(dying.changes).toBeLessThanOrEqual(dieAt);
    host.kill();
    await host.start();
    send(orders);
    await until(isDone, () => JSON.stringify(host.report));
    expect([...host.driver.disks.snapshots.keys()].sort()).toEqual(['s0', 's2']);
    expect(host.driver.disks.content('copy')).toBe('first');
    expect(host.driver.disks.content('other')).toBe('first');
  });
});
