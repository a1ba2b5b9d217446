import {
  drive,
  gpu,
  makeDisk,
  makeRule,
  makeSpec,
  makeTakeDown,
  makeVm,
} from '@gantry/agent/testing/make-spec';
import { beforeEach, describe, expect, it } from 'vitest';
import { AgentUnderTest, until } from './testing/agent-under-test.ts';
import { runAlone } from './testing/run-alone.ts';
import { bringUp, DRIVE, GPU_A, GPU_B, TRAINER } from './testing/trainer.ts';

const NO_SPACE = { code: 'host_failed', message: 'no space' };

let host: AgentUnderTest;
beforeEach(async () => {
  host = new AgentUnderTest();
  await host.start();
});

describe('the host remembers its VMs:', () => {
  it('a restarted agent does not touch running VMs', async () => {
    await bringUp(host);
    host.kill();
    await host.start();
    await host.untilState('vm-1', '1', 'RUNNING');
    expect(host.driver.hypervisor.domain('vm-1')).toMatchObject({ starts: 1, resets: 0 });
    expect(host.report).toMatchObject({ acceptedNumber: '1', firewallNumber: '1' });
  });

  it.each([false, true])(
    'a rebooted host starts its VMs again without a scheduler (domains kept: %s)',
    async (keepDomains) => {
      await bringUp(host);
      host.kill();
      host.driver.reboot({ keepDomains });
      await host.start();
      await host.untilState('vm-1', '1', 'RUNNING');
      expect(host.vm('vm-1')?.generation).toBe('1');
      expect(host.report.firewallNumber).toBe('1');
    },
  );

  it('a guest keeps its hardware over a reboot, a lost domain and an adjustment, until it is taken down', async () => {
    const hardware = {
      ...{ machineType: 'pc-q35-7.2', cpu: 'host-passthrough', accel: 'kvm' as const },
      ...{ loader: '/firmware/code.fd', nvramTemplate: '/firmware/vars.fd' },
    };
    const asked: unknown[] = [];
    const { hypervisor } = host.driver;
    const define = hypervisor.define.bind(hypervisor);
    Object.assign(hypervisor, {
      define: async (vm: typeof TRAINER, kept: unknown) => {
        asked.push(kept);
        await define(vm);
        return kept ?? hardware;
      },
    });
    await bringUp(host);
    expect(asked).toEqual([null]);
    host.kill();
    host.driver.reboot({ keepDomains: false });
    await host.start();
    await host.untilState('vm-1', '1', 'RUNNING');
    host.send(makeSpec(2, { vms: [{ ...TRAINER, revision: '2' }] }));
    await host.untilState('vm-1', '2', 'RUNNING');
    expect(asked.slice(1)).toEqual(asked.slice(1).map(() => hardware));
    expect(asked.length).toBeGreaterThan(2);
    host.send(makeSpec(3, { takeDowns: [makeTakeDown('vm-1', { revision: '3' })] }));
    await host.untilState('vm-1', '3', 'TAKEN_DOWN');
    host.send(makeSpec(4, { vms: [{ ...TRAINER, revision: '4', generation: '2' }] }));
    await host.untilState('vm-1', '4', 'RUNNING');
    expect(asked.at(-1)).toBeNull();
  });

  it('a VM that was running when the ledger was created starts again after a reboot', async () => {
    await bringUp(host);
    host.kill();
    host.ledger = new AgentUnderTest().ledger;
    await host.start();
    await bringUp(host);
    host.kill();
    host.driver.reboot({ keepDomains: true });
    await host.start();
    await host.untilState('vm-1', '1', 'RUNNING');
  });

  it('a VM that had crashed stays off after a reboot', async () => {
    await bringUp(host);
    host.driver.crashDomain('vm-1');
    await host.untilState('vm-1', '1', 'CRASHED');
    host.kill();
    host.driver.reboot();
    await host.start();
    await host.untilState('vm-1', '1', 'CRASHED');
  });

  it('a VM that crashed while no agent ran is not started again', async () => {
    await bringUp(host);
    host.kill();
    host.driver.crashDomain('vm-1');
    await host.start();
    await host.untilState('vm-1', '1', 'CRASHED');
  });

  it('the loss of the ledger neither restarts nor resets a running VM', async () => {
    await bringUp(host);
    host.kill();
    host.ledger = new AgentUnderTest().ledger;
    await host.start();
    await host.untilState('vm-1', '0', 'UNKNOWN');
    host.send(makeSpec(1, { vms: [TRAINER] }));
    await host.untilState('vm-1', '1', 'RUNNING');
    expect(host.driver.hypervisor.domain('vm-1')).toMatchObject({ starts: 1, resets: 0 });
  });
});

describe('a VM that no spec names', () => {
  it('keeps running and is reported as unknown, and its devices are in use', async () => {
    await runAlone(host.driver, makeVm('stray', { devices: [gpu(GPU_A)] }));
    host.send(makeSpec(1));
    await host.untilState('stray', '0', 'UNKNOWN');
    host.send(makeSpec(2, { vms: [TRAINER] }));
    await until(() => host.vm('vm-1')?.failure?.code === 'device_in_use');
    expect(host.report.acceptedNumber).toBe('2');
    expect(host.driver.hypervisor.domain('stray')?.state).toBe('running');
    expect(host.driver.hypervisor.domain('vm-1')).toBeUndefined();
  });

  it('keeps running if an earlier spec named it, because absence is not an order', async () => {
    await bringUp(host);
    host.send(makeSpec(2));
    await host.untilState('vm-1', '0', 'UNKNOWN');
    expect(host.driver.hypervisor.domain('vm-1')?.state).toBe('running');
    const covered = host.driver.network.firewall?.interfaces.map((iface) => iface.id);
    expect(covered).toContain('vm-1-interface');
  });
});

describe('disks that belong to no VM', () => {
  it('are grown and removed, and then reported', async () => {
    await host.driver.volumes.create(makeDisk('idle'), null);
    await host.driver.volumes.create(makeDisk('old'), null);
    const disks = [makeDisk('idle', { sizeBytes: '2147483648' })];
    host.send(makeSpec(1, { disks, deletedDisks: ['old', 'never-was'] }));
    await until(() => host.report.deletedDisks?.length === 2);
    expect(host.report.disks).toEqual([{ id: 'idle', sizeBytes: '2147483648' }]);
    expect(host.driver.disks.ids()).toEqual(['idle']);
  });

  it('are not reported if they cannot be removed, and are tried again', async () => {
    await host.driver.volumes.create(makeDisk('old'), null);
    host.driver.faults.failNext('remove_disk', 1, NO_SPACE);
    host.send(makeSpec(1, { deletedDisks: ['old'] }));
    await until(() => host.clock.waiting > 0 && host.report.acceptedNumber === '1');
    expect(host.report.deletedDisks).toEqual([]);
    host.clock.advance(60_000);
    await until(() => host.report.deletedDisks?.[0] === 'old');
  });
});

describe('firewall rules', () => {
  it('are reported only when they are in force, and no interface comes up before that', async () => {
    host.driver.faults.failNext('apply_firewall', 2, NO_SPACE);
    host.send(makeSpec(1, { vms: [makeVm('vm-1')] }));
    await until(() => host.report.acceptedNumber === '1' && host.clock.waiting > 0);
    expect(host.report.firewallNumber).toBe('0');
    expect(host.driver.network.vmIds()).toEqual([]);
    host.clock.advance(1_000);
    await until(() => host.report.firewallNumber === '1');
    host.clock.advance(1_000);
    await host.untilState('vm-1', '1', 'RUNNING');
  });

  it('change while VMs run', async () => {
    await bringUp(host);
    const rules = [makeRule('rule-1'), makeRule('rule-2', { action: 'ACTION_DENY' })];
    host.send(makeSpec(2, { vms: [TRAINER], firewallRules: rules }));
    await until(() => host.report.firewallNumber === '2');
    expect(host.driver.network.firewall?.rules).toEqual(rules);
  });
});

describe('the limits of disks', () => {
  const limits = (totalIops: string) => ({
    ...{ kind: 'DISK_KIND_PERSISTENT_SSD' as const, totalIops, iopsPerGib: '10' },
    ...{ readIops: '0', writeIops: '0', totalBytesPerSecond: '0', readBytesPerSecond: '0' },
    ...{ writeBytesPerSecond: '0', bytesPerSecondPerGib: '0', burstPercent: 0, burstSeconds: 0 },
  });
  const iops = () =>
    host.driver.hypervisor.look().map(({ disks }) => disks[0]?.tune?.['total_iops_sec']);

  it('change while VMs run, without a new revision, and end with the limit', async () => {
    await bringUp(host);
    expect(iops()).toEqual([undefined]);
    host.send(makeSpec(2, { vms: [TRAINER], diskLimits: [limits('500')] }));
    await until(() => iops()[0] === '510');
    host.send(makeSpec(3, { vms: [TRAINER], diskLimits: [limits('90')] }));
    await until(() => iops()[0] === '100');
    expect(host.driver.hypervisor.domain('vm-1')).toMatchObject({ starts: 1, resets: 0 });
    host.send(makeSpec(4, { vms: [TRAINER] }));
    await until(() => iops()[0] === undefined);
  });

  it('are those of the start, grow with the disk, and are restored if they are changed outside', async () => {
    const vm = makeVm('vm-1');
    host.send(makeSpec(1, { vms: [vm], diskLimits: [limits('0')] }));
    await host.untilState('vm-1', '1', 'RUNNING');
    expect(iops()).toEqual(['10']);
    const [os] = vm.disks;
    if (!os) throw new Error('the VM has no disk');
    const grown = { ...vm, revision: '2', disks: [{ ...os, sizeBytes: String(4 * 1024 ** 3) }] };
    host.send(makeSpec(2, { vms: [grown], diskLimits: [limits('0')] }));
    await until(() => iops()[0] === '40');
    await host.driver.hypervisor.limitDisk('vm-1', { ...os, tune: {} });
    await until(() => iops()[0] === '40');
  });
});

it('a deleted disk is removed as soon as the VM that used it is gone', async () => {
  host.driver.behave({ shutdownMs: 5_000 });
  await bringUp(host);
  const takeDowns = [makeTakeDown('vm-1', { devices: [gpu(GPU_A), gpu(GPU_B), drive(DRIVE)] })];
  host.send(makeSpec(2, { takeDowns, deletedDisks: ['vm-1-os'] }));
  await until(() => host.driver.hypervisor.domain('vm-1')?.isShuttingDown === true);
  await until(() => host.report.acceptedNumber === '2');
  expect(host.report.deletedDisks).toEqual([]);
  host.clock.advance(5_000);
  await until(() => host.report.deletedDisks?.[0] === 'vm-1-os');
});
