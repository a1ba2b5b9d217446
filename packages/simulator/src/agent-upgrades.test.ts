import { makeSpec, makeVm } from '@gantry/agent/testing/make-spec';
import { beforeEach, describe, expect, it } from 'vitest';
import { AgentUnderTest, until } from './testing/agent-under-test.ts';
import { SimulatedPackages, type UpgradeOutcome } from './upgrade/simulated-packages.ts';

/** What the agent does with orders to run another version of itself. */
const ORDER = { id: 'order-1', version: '2.0.0', timeLimitSeconds: 60 };

let host: AgentUnderTest;
let version: string;
let outcome: UpgradeOutcome;
let begun: string[];
let packages: SimulatedPackages;

beforeEach(async () => {
  host = new AgentUnderTest();
  [version, outcome, begun] = ['1.0.0', 'works', []];
  packages = new SimulatedPackages({
    clock: host.clock,
    behaviour: { installMs: 5_000, outcome: () => outcome },
    version: () => version,
    killAgent: () => host.kill(),
    startAgent: (next) => {
      version = next;
      void host.start({ packages });
    },
  });
  const begin = packages.begin.bind(packages);
  packages.begin = (order) => {
    begun.push(order.id);
    return begin(order);
  };
  await host.start({ packages });
});

/** In the last report that has an inventory. */
const upgradeReported = () =>
  host.reports.findLast(({ inventory }) => inventory)?.inventory?.software?.upgrade;

/** Lets time pass until the condition holds, because the agent asks for outcomes from time to time. */
const untilLater = (condition: () => boolean) =>
  until(() => {
    host.clock.advance(100);
    return condition();
  });

describe('an order to run another version', () => {
  it('replaces the agent, and the new agent confirms it with its first spec', async () => {
    host.send(makeSpec(1, { vms: [makeVm('vm-1')] }));
    await host.untilState('vm-1', '1', 'RUNNING');
    const starts = host.driver.hypervisor.domain('vm-1')?.starts;
    host.send(makeSpec(2, { vms: [makeVm('vm-1')], agentUpgrade: ORDER }));
    await until(() => upgradeReported()?.id === 'order-1');
    expect(upgradeReported()).toMatchObject({ version: '2.0.0', failure: null });
    host.clock.advance(5_000);
    await until(() => version === '2.0.0' && host.agent !== null);
    expect(packages.attempt?.isConfirmed).toBe(false);
    host.send(makeSpec(2, { vms: [makeVm('vm-1')], agentUpgrade: ORDER }));
    await until(() => packages.attempt?.isConfirmed === true);
    expect(host.driver.hypervisor.domain('vm-1')?.starts).toBe(starts);
    expect(begun).toEqual(['order-1']);
  });

  it('that fails is reported and not tried again, also by the next agent', async () => {
    outcome = 'install-fails';
    host.send(makeSpec(1, { agentUpgrade: ORDER }));
    await until(() => begun.length === 1);
    host.clock.advance(5_000);
    await until(() => packages.attempt?.failure != null);
    await untilLater(() => upgradeReported()?.failure != null);
    expect(upgradeReported()?.failure?.message).toContain('could not be installed');
    host.kill();
    await host.start({ packages });
    host.send(makeSpec(1, { agentUpgrade: ORDER }));
    await until(() => upgradeReported()?.failure != null);
    host.send(makeSpec(2, { agentUpgrade: { ...ORDER, id: 'order-2' } }));
    await until(() => begun.length === 2);
    expect(begun).toEqual(['order-1', 'order-2']);
  });

  it('waits while another one is carried out', async () => {
    host.send(makeSpec(1, { agentUpgrade: ORDER }));
    await until(() => begun.length === 1);
    outcome = 'install-fails';
    host.send(makeSpec(2, { agentUpgrade: { ...ORDER, id: 'order-2', version: '3.0.0' } }));
    host.clock.advance(4_000);
    expect(begun).toEqual(['order-1']);
    host.clock.advance(1_000);
    await until(() => packages.attempt?.failure != null);
    await untilLater(() => begun.length === 2);
  });

  it('for the version that runs, or for something that is no version, does nothing', async () => {
    host.send(makeSpec(1, { agentUpgrade: { ...ORDER, version: '1.0.0' } }));
    await until(() => host.report.acceptedNumber === '1');
    host.send(makeSpec(2, { agentUpgrade: { ...ORDER, version: '--help' } }));
    await until(() => host.report.acceptedNumber === '2');
    expect(begun).toEqual([]);
  });
});
