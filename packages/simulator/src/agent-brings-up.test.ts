import { makeDisk, makeSpec, makeVm } from '@gantry/agent/testing/make-spec';
import { beforeEach, describe, expect, it } from 'vitest';
import { AgentUnderTest, until } from './testing/agent-under-test.ts';
import { bringUp, TRAINER } from './testing/trainer.ts';

const NO_SPACE = { code: 'host_failed', message: 'no space' };
const NO_REPLY = { code: 'host_failed', message: 'no reply' };

let host: AgentUnderTest;
beforeEach(async () => {
  host = new AgentUnderTest();
  await host.start();
});

describe('a VM in the spec', () => {
  it('runs, with the rules of its network in force', async () => {
    await bringUp(host);
    expect(host.report).toMatchObject({ acceptedNumber: '1', refusal: null, firewallNumber: '1' });
    expect(host.vm('vm-1')).toMatchObject({
      generation: '1',
      failure: null,
      disks: [{ id: 'vm-1-os', sizeBytes: '1073741824' }],
    });
    expect(host.driver.network.firewall?.rules).toHaveLength(1);
  });

  it('gets its devices and interfaces while its boot disk is still being made', async () => {
    host.driver.faults.hang('create_disk');
    host.send(makeSpec(1, { vms: [TRAINER] }));
    await until(() => host.driver.network.vmIds().includes('vm-1'));
    await until(() => host.driver.devices.look().length === 3);
    expect(host.driver.hypervisor.domain('vm-1')).toBeUndefined();
    host.driver.faults.unhang('create_disk');
    await host.untilState('vm-1', '1', 'RUNNING');
  });

  it('is reset only by a higher generation', async () => {
    await bringUp(host);
    host.send(makeSpec(2, { vms: [TRAINER] }));
    host.send(makeSpec(3, { vms: [{ ...TRAINER, revision: '2', generation: '2' }] }));
    await host.untilState('vm-1', '2', 'RUNNING');
    expect(host.vm('vm-1')?.generation).toBe('2');
    expect(host.driver.hypervisor.domain('vm-1')).toMatchObject({ starts: 1, resets: 1 });
  });

  it.each(['crashed', 'shutoff'] as const)(
    'that ended by itself (%s) stays off and keeps its devices until a higher generation',
    async (state) => {
      await bringUp(host);
      host.driver.hypervisor.crash('vm-1', state);
      await host.untilState('vm-1', '1', 'CRASHED');
      expect(host.vm('vm-1')?.generation).toBe('1');
      expect(await host.driver.devices.list()).toHaveLength(3);
      host.send(makeSpec(2, { vms: [TRAINER] }));
      await until(() => host.report.acceptedNumber === '2');
      expect(host.stateOf('vm-1', '1')).toBe('CRASHED');
      host.send(makeSpec(3, { vms: [{ ...TRAINER, revision: '2', generation: '2' }] }));
      await host.untilState('vm-1', '2', 'RUNNING');
    },
  );

  it('gets, loses and grows disks without a reboot', async () => {
    const [os, old, data] = [makeDisk('vm-1-os'), makeDisk('old'), makeDisk('data')];
    await bringUp(host, { ...TRAINER, disks: [os, old] });
    const grown = { ...os, sizeBytes: '2147483648' };
    host.send(makeSpec(2, { vms: [{ ...TRAINER, revision: '2', disks: [grown, data] }] }));
    await host.untilState('vm-1', '2', 'RUNNING');
    expect(host.vm('vm-1')?.disks).toEqual([
      { id: 'vm-1-os', sizeBytes: '2147483648' },
      { id: 'data', sizeBytes: '1073741824' },
    ]);
    expect(host.driver.hypervisor.domain('vm-1')).toMatchObject({ starts: 1, resets: 0 });
    expect(host.driver.disks.ids()).toContain('old');
  });

  it('never gets an empty disk instead of an existing one', async () => {
    await bringUp(host);
    const elsewhere = { ...makeDisk('data'), exists: true };
    const disks = [makeDisk('vm-1-os'), elsewhere];
    host.send(makeSpec(2, { vms: [{ ...TRAINER, revision: '2', disks }] }));
    for (const _ of [1, 2]) {
      await until(() => host.clock.waiting > 0);
      host.clock.advance(1_000);
    }
    await until(() => host.vm('vm-1')?.failure?.code === 'disk_missing');
    expect(host.stateOf('vm-1', '2')).toBe('RUNNING');
    expect(host.driver.disks.ids()).not.toContain('data');
  });

  it('keeps running and reports a failure while a disk cannot be attached', async () => {
    await bringUp(host);
    host.driver.faults.failNext('attach_disk', 3, NO_SPACE);
    const disks = [makeDisk('vm-1-os'), makeDisk('data')];
    host.send(makeSpec(2, { vms: [{ ...TRAINER, revision: '2', disks }] }));
    await until(() => host.clock.waiting > 0);
    host.clock.advance(200);
    await until(() => host.clock.waiting > 0);
    host.clock.advance(1_000);
    await host.untilState('vm-1', '2', 'RUNNING');
    expect(host.vm('vm-1')?.failure).toMatchObject(NO_SPACE);
    host.clock.advance(60_000);
    await until(() => host.vm('vm-1')?.failure === null && host.vm('vm-1')?.disks?.length === 2);
  });
});

describe('a part that fails', () => {
  it('is tried three times, then reported, and tried again after a pause', async () => {
    host.driver.faults.failNext('create_disk', 3, NO_SPACE);
    host.send(makeSpec(1, { vms: [TRAINER] }));
    await until(() => host.clock.waiting > 0);
    host.clock.advance(200);
    await until(() => host.clock.waiting > 0);
    expect(host.vm('vm-1')?.state).toBe('VM_OBSERVED_STATE_WORKING');
    const since = host.clock.nowMs() + 1_000;
    host.clock.advance(1_000);
    await host.untilState('vm-1', '1', 'FAILED');
    expect(host.vm('vm-1')?.failure).toEqual({ ...NO_SPACE, sinceMs: since });
    host.clock.advance(60_000);
    await host.untilState('vm-1', '1', 'RUNNING');
    await until(() => host.vm('vm-1')?.failure === null);
  });

  it('is tried again at once with a new revision, but not with the same revision', async () => {
    host.driver.volumes.loseImage('debian-12');
    host.send(makeSpec(1, { vms: [TRAINER] }));
    await until(() => host.clock.waiting > 0);
    host.clock.advance(200);
    await until(() => host.clock.waiting > 0);
    host.clock.advance(1_000);
    await host.untilState('vm-1', '1', 'FAILED');
    expect(host.vm('vm-1')?.failure?.code).toBe('image_unavailable');
    host.driver.volumes.findImage('debian-12');
    host.send(makeSpec(2, { vms: [TRAINER] }));
    await until(() => host.report.acceptedNumber === '2' && host.report.firewallNumber === '2');
    expect(host.stateOf('vm-1', '1')).toBe('FAILED');
    host.send(makeSpec(3, { vms: [{ ...TRAINER, revision: '2' }] }));
    await host.untilState('vm-1', '2', 'RUNNING');
  });

  it('stays reported while retries fail', async () => {
    host.driver.faults.failNext('create_disk', 4, NO_SPACE);
    host.send(makeSpec(1, { vms: [TRAINER] }));
    for (const pauseMs of [200, 1_000, 60_000, 200]) {
      await until(() => host.clock.waiting > 0);
      if (pauseMs === 60_000) await host.untilState('vm-1', '1', 'FAILED');
      host.reports = pauseMs === 60_000 ? [] : host.reports;
      host.clock.advance(pauseMs);
    }
    await host.untilState('vm-1', '1', 'RUNNING');
    const states = host.reports.map(({ vms }) => String(vms?.[0]?.state));
    expect(states).not.toContain('VM_OBSERVED_STATE_WORKING');
  });

  it('is not reported while the host does not reply for a moment', async () => {
    await bringUp(host);
    host.driver.faults.failNext('list_domains', 2, NO_SPACE);
    host.agent?.domainChanged('vm-1');
    await until(() => host.clock.waiting > 0);
    host.clock.advance(200);
    await until(() => host.clock.waiting > 0);
    host.clock.advance(1_000);
    host.reports = [];
    host.send(makeSpec(2, { vms: [{ ...TRAINER, revision: '2' }] }));
    await host.untilState('vm-1', '2', 'RUNNING');
    expect(host.reports.every(({ vms }) => vms?.[0]?.failure === null)).toBe(true);
  });

  it('because the hypervisor hangs is tried again when the hypervisor continues', async () => {
    const { faults } = host.driver;
    const advanceUntil = async (state: string) => {
      for (let turn = 0; host.stateOf('vm-1', '1') !== state && turn < 100; turn += 1) {
        host.clock.advance(100);
        for (let i = 0; i < 50; i += 1) await new Promise((resolve) => setImmediate(resolve));
      }
      expect(host.stateOf('vm-1', '1')).toBe(state);
    };
    faults.hang('create_disk');
    host.send(makeSpec(1, { vms: [TRAINER] }));
    await until(() => faults.hangingIn('create_disk') === 1);
    for (const step of ['list_domains', 'define'] as const) faults.failNext(step, 1_000, NO_REPLY);
    faults.unhang('create_disk');
    await advanceUntil('FAILED');
    const failedMs = host.clock.nowMs();
    for (const step of ['list_domains', 'define'] as const) faults.failNext(step, 0, NO_REPLY);
    await advanceUntil('RUNNING');
    expect(host.clock.nowMs() - failedMs).toBeLessThan(5_000);
  });

  it('of one VM does not delay other VMs', async () => {
    host.driver.faults.hang('bind_device');
    host.send(makeSpec(1, { vms: [TRAINER, makeVm('vm-2')] }));
    await host.untilState('vm-2', '1', 'RUNNING');
    expect(host.vm('vm-1')?.state).toBe('VM_OBSERVED_STATE_WORKING');
    host.driver.faults.unhang('bind_device');
    await host.untilState('vm-1', '1', 'RUNNING');
  });

  it('because of a missing image source or boot disk is reported with that reason', async () => {
    const image = { name: 'secret', url: '', sha256: '', id: '' };
    host.send(makeSpec(1, { vms: [{ ...TRAINER, image }, makeVm('vm-2', { image: null })] }));
    await until(() => host.clock.waiting > 1);
    host.clock.advance(200);
    await until(() => host.clock.waiting > 1);
    host.clock.advance(1_000);
    await host.untilState('vm-1', '1', 'FAILED');
    await host.untilState('vm-2', '1', 'FAILED');
    expect(host.vm('vm-1')?.failure?.code).toBe('image_unavailable');
    expect(host.vm('vm-2')?.failure?.code).toBe('disk_missing');
    expect(host.driver.disks.ids()).toEqual([]);
  });
});
