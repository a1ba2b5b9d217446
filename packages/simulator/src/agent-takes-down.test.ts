import { DEFAULT_TIMINGS } from '@gantry/agent/base/timings';
import { drive, gpu, makeSpec, makeTakeDown } from '@gantry/agent/testing/make-spec';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { AgentUnderTest, until } from './testing/agent-under-test.ts';
import { bringUp, DRIVE, GPU_A, GPU_B, TRAINER } from './testing/trainer.ts';

const NO_SPACE = { code: 'host_failed', message: 'no space' };

let host: AgentUnderTest;
beforeEach(async () => {
  host = new AgentUnderTest();
  await host.start();
});

describe('a VM that is taken down', () => {
  const takeDown = makeTakeDown('vm-1', {
    devices: [gpu(GPU_A), gpu(GPU_B), drive(DRIVE)],
    disks: ['vm-1-os'],
  });

  it('is asked to shut down, removed completely, and leaves a receipt for each device', async () => {
    await bringUp(host);
    host.send(makeSpec(2, { takeDowns: [takeDown] }));
    await host.untilState('vm-1', '2', 'TAKEN_DOWN');
    const receipt = { vmId: 'vm-1', revision: '2', failure: null };
    expect(receiptsByAddress(host)).toEqual([
      expect.objectContaining({ ...receipt, pciAddress: GPU_A, method: 'flr', serial: '' }),
      expect.objectContaining({ ...receipt, pciAddress: GPU_B, kind: 'gpu' }),
      expect.objectContaining({
        ...receipt,
        pciAddress: DRIVE,
        method: 'format_ses1',
        serial: 'SIM0000',
      }),
    ]);
    expectNothingLeft(host);
  });

  it('returns its GPUs while its drives are still being erased', async () => {
    const eraseMs = 3_600_000;
    host.driver.behave({ eraseMs });
    await bringUp(host);
    host.send(makeSpec(2, { takeDowns: [takeDown] }));
    await until(() => host.report.receipts?.length === 2);
    expect(receiptsByAddress(host).map(({ pciAddress }) => pciAddress)).toEqual([GPU_A, GPU_B]);
    expect(host.driver.devices.look().map(({ address }) => address)).toEqual([DRIVE]);
    expect(host.vm('vm-1')?.state).toBe('VM_OBSERVED_STATE_WORKING');
    host.clock.advance(eraseMs);
    await host.untilState('vm-1', '2', 'TAKEN_DOWN');
  });

  it('returns its other devices if one cannot be released yet, and retries that one', async () => {
    await bringUp(host);
    host.driver.faults.failNext('release_device', 1, { code: 'device_in_use', message: 'open' });
    host.send(makeSpec(2, { takeDowns: [takeDown] }));
    await until(() => host.report.receipts?.length === 2);
    expect(receiptsByAddress(host).map(({ pciAddress }) => pciAddress)).toEqual([GPU_B, DRIVE]);
    await until(() => host.clock.waiting > 0);
    host.clock.advance(DEFAULT_TIMINGS.retryMs[0] ?? 0);
    await host.untilState('vm-1', '2', 'TAKEN_DOWN');
    expect([...host.driver.devices.cleanings.values()]).toEqual([1, 1, 1]);
  });

  it('keeps the disks that are not to be deleted, and can start from them again', async () => {
    await bringUp(host);
    host.send(makeSpec(2, { takeDowns: [{ ...takeDown, disks: [] }] }));
    await host.untilState('vm-1', '2', 'TAKEN_DOWN');
    expect(host.driver.disks.ids()).toEqual(['vm-1-os']);
    host.send(makeSpec(3, { vms: [{ ...TRAINER, revision: '3', generation: '2', image: null }] }));
    await host.untilState('vm-1', '3', 'RUNNING');
    expect(host.report.receipts).toEqual([]);
  });

  it('has 90 seconds for its script and five to shut down before it is powered off', async () => {
    host.driver.behave({ shutdownMs: null });
    await bringUp(host);
    host.send(makeSpec(2, { takeDowns: [takeDown] }));
    await until(() => host.driver.hypervisor.domain('vm-1')?.shutdownsAsked === 1);
    await until(() => host.clock.waiting > 0);
    host.clock.advance(94_999);
    await until(() => host.report.acceptedNumber === '2');
    expect(host.driver.hypervisor.domain('vm-1')?.state).toBe('running');
    expect(host.vm('vm-1')?.state).toBe('VM_OBSERVED_STATE_WORKING');
    host.clock.advance(1);
    await host.untilState('vm-1', '2', 'TAKEN_DOWN');
  });

  it('is gone as soon as its guest has shut down', async () => {
    host.driver.behave({ shutdownMs: 5_000 });
    await bringUp(host);
    host.send(makeSpec(2, { takeDowns: [takeDown] }));
    await until(() => host.clock.waiting === 2);
    host.clock.advance(5_000);
    await host.untilState('vm-1', '2', 'TAKEN_DOWN');
  });

  it('is powered off at once if that is ordered, also during the wait', async () => {
    host.driver.behave({ shutdownMs: null });
    await bringUp(host);
    host.send(makeSpec(2, { takeDowns: [takeDown] }));
    await until(() => host.clock.waiting > 0);
    host.send(makeSpec(3, { takeDowns: [{ ...takeDown, revision: '3', graceful: false }] }));
    await host.untilState('vm-1', '3', 'TAKEN_DOWN');
    expect(host.report.receipts?.every(({ revision }) => revision === '3')).toBe(true);
  });

  it('that shut down before the wait began is not waited for', async () => {
    host.driver.behave({ shutdownMs: null });
    await bringUp(host);
    const { hypervisor } = host.driver;
    const list = hypervisor.list.bind(hypervisor);
    // The guest ends after it was observed running and before the wait begins.
    vi.spyOn(hypervisor, 'list').mockImplementation(async () => {
      const domains = await list();
      const domain = hypervisor.domain('vm-1');
      if (domain?.state === 'running' && domain.shutdownsAsked > 0) hypervisor.crash('vm-1');
      return domains;
    });
    host.send(makeSpec(2, { takeDowns: [takeDown] }));
    await host.untilState('vm-1', '2', 'TAKEN_DOWN');
  });

  it('gets new receipts for a later revision', async () => {
    await bringUp(host);
    host.send(makeSpec(2, { takeDowns: [{ ...takeDown, disks: [] }] }));
    await host.untilState('vm-1', '2', 'TAKEN_DOWN');
    host.send(makeSpec(3, { takeDowns: [{ ...takeDown, revision: '3' }] }));
    await host.untilState('vm-1', '3', 'TAKEN_DOWN');
    expect(host.report.receipts?.map(({ revision }) => revision)).toEqual(['3', '3', '3']);
    expectNothingLeft(host);
  });

  it('that the host never had still gets its receipts', async () => {
    host.send(makeSpec(1, { takeDowns: [takeDown] }));
    await host.untilState('vm-1', '2', 'TAKEN_DOWN');
    expect(host.report.receipts).toHaveLength(3);
  });

  it('leaves a device that another VM holds to that VM, and says so in the receipt', async () => {
    await bringUp(host);
    const other = makeTakeDown('vm-2', { devices: [gpu(GPU_A)], disks: [] });
    host.send(makeSpec(2, { vms: [TRAINER], takeDowns: [other] }));
    await host.untilState('vm-2', '2', 'TAKEN_DOWN');
    expect(host.report.receipts).toEqual([
      expect.objectContaining({
        ...{ vmId: 'vm-2', pciAddress: GPU_A, method: 'none' },
        failure: expect.objectContaining({
          code: 'device_in_use',
          message: expect.stringContaining('in use by VM vm-1'),
        }),
      }),
    ]);
    expect(host.vm('vm-1')?.state).toBe('VM_OBSERVED_STATE_RUNNING');
  });

  it('is removed from the ledger with its receipts when its entry leaves the spec', async () => {
    host.send(makeSpec(1, { takeDowns: [takeDown] }));
    await host.untilState('vm-1', '2', 'TAKEN_DOWN');
    host.send(makeSpec(2));
    await until(() => host.report.acceptedNumber === '2');
    expect(host.report).toMatchObject({ vms: [], receipts: [] });
    expect((await host.ledger.read())?.vms).toEqual({});
  });

  it('is gone even if a device cannot be cleaned, and the receipt names the reason', async () => {
    await bringUp(host);
    const failure = { code: 'erase_failed', message: 'format timed out' };
    host.driver.devices.spoil(DRIVE, failure);
    host.send(makeSpec(2, { takeDowns: [takeDown] }));
    await host.untilState('vm-1', '2', 'TAKEN_DOWN');
    const receipts = host.report.receipts ?? [];
    expect(receipts.find(({ pciAddress }) => pciAddress === DRIVE)?.failure).toMatchObject(failure);
    expect(receipts.filter((receipt) => receipt.failure === null)).toHaveLength(2);
  });

  it('is not built further if the order arrives while it is built', async () => {
    host.driver.faults.hang('bind_device');
    host.send(makeSpec(1, { vms: [TRAINER] }));
    // The first device of each kind.
    await until(() => host.driver.faults.hangingIn('bind_device') === 2);
    host.send(makeSpec(2, { takeDowns: [takeDown] }));
    await until(() => host.report.acceptedNumber === '2');
    host.driver.faults.unhang('bind_device');
    await host.untilState('vm-1', '2', 'TAKEN_DOWN');
    expectNothingLeft(host);
    expect(host.report.receipts).toHaveLength(3);
  });

  it('does not wait for a retry of its creation', async () => {
    host.driver.faults.failNext('create_disk', 3, NO_SPACE);
    host.send(makeSpec(1, { vms: [TRAINER] }));
    await until(() => host.clock.waiting > 0);
    host.send(makeSpec(2, { takeDowns: [takeDown] }));
    await host.untilState('vm-1', '2', 'TAKEN_DOWN');
  });
});

function receiptsByAddress({ report }: AgentUnderTest) {
  const addressOf = ({ pciAddress = '' }: { pciAddress?: string }) => pciAddress;
  return (report.receipts ?? []).toSorted((a, b) => addressOf(a).localeCompare(addressOf(b)));
}

function expectNothingLeft({ driver }: AgentUnderTest): void {
  expect(driver.disks.ids()).toEqual([]);
  expect(driver.seeds.vmIds()).toEqual([]);
  expect(driver.network.vmIds()).toEqual([]);
  expect(driver.hypervisor.domain('vm-1')).toBeUndefined();
}
