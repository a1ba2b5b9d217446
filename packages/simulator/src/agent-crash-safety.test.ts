import { drive, gpu, makeSpec, makeTakeDown, makeVm } from '@gantry/agent/testing/make-spec';
import { describe, expect, it } from 'vitest';
import { AgentUnderTest, until } from './testing/agent-under-test.ts';
import { DyingAgent } from './testing/dying-agent.ts';
import { DRIVES, GPUS } from './testing/make-inventory.ts';

/**
 * Kills the agent at every single change, starts it again, and expects the result of an agent that
 * was never killed: while a VM is brought up, taken down and reset.
 */
const VM = makeVm('vm-1', { devices: [gpu(GPUS[0]), gpu(GPUS[1]), drive(DRIVES[0])] });
const UP = makeSpec(1, { vms: [VM] });
const DOWN = makeSpec(2, {
  takeDowns: [makeTakeDown('vm-1', { devices: VM.devices, disks: ['vm-1-os'] })],
});
const RESET = makeSpec(2, { vms: [{ ...VM, revision: '2', generation: '2' }] });

type Death = { dieAt: number; when: 'before' | 'after' };

/**
 * An agent that dies carries out the spec, and then one that does not. Returns the receipts that the
 * first one stored.
 */
async function interrupted(host: AgentUnderTest, spec: typeof UP, { dieAt, when }: Death) {
  const dying = new DyingAgent(host, dieAt, when);
  await host.start({ driver: dying.driver, ledger: dying.ledger });
  host.send(spec);
  await until(() => host.agent === null);
  const stored = (await host.ledger.read())?.vms['vm-1']?.receipts ?? [];
  await host.start();
  host.send(spec);
  return stored;
}

async function hostWith(spec: typeof UP | null): Promise<AgentUnderTest> {
  const host = new AgentUnderTest();
  if (!spec) return host;
  await host.start();
  host.send(spec);
  await host.untilState('vm-1', '1', 'RUNNING');
  host.kill();
  return host;
}

/** Every change that an agent makes, twice: death before it and death after it. */
async function deaths(from: typeof UP | null, to: typeof UP, state: string): Promise<Death[]> {
  const host = await hostWith(from);
  const counting = new DyingAgent(host, Number.POSITIVE_INFINITY, 'before');
  await host.start({ driver: counting.driver, ledger: counting.ledger });
  host.send(to);
  const revision = [...to.vms, ...to.takeDowns][0]?.revision ?? '';
  await host.untilState('vm-1', revision, state);
  await until(() => host.report.firewallNumber === to.number);
  host.kill();
  const numbers = Array.from({ length: counting.changes }, (_, index) => index + 1);
  return numbers.flatMap((dieAt) => [
    { dieAt, when: 'before' as const },
    { dieAt, when: 'after' as const },
  ]);
}

const upDeaths = await deaths(null, UP, 'RUNNING');
const downDeaths = await deaths(UP, DOWN, 'TAKEN_DOWN');
const resetDeaths = await deaths(UP, RESET, 'RUNNING');

it('each case has more than one change to die at', () => {
  expect(upDeaths.length).toBeGreaterThan(16);
  expect(downDeaths.length).toBeGreaterThan(20);
  expect(resetDeaths.length).toBeGreaterThan(6);
});

describe('an agent that dies while it brings a VM up', () => {
  it.each(upDeaths)(
    'at change $dieAt, $when it: the VM runs and was started once',
    async (death) => {
      const host = await hostWith(null);
      await interrupted(host, UP, death);
      await host.untilState('vm-1', '1', 'RUNNING');
      expect(host.driver.hypervisor.domain('vm-1')).toMatchObject({ starts: 1, resets: 0 });
      await until(() => host.report.firewallNumber === '1');

      host.send(DOWN);
      await host.untilState('vm-1', '2', 'TAKEN_DOWN');
      await expectNothingLeft(host);
    },
  );

  it.each(
    [true, false].flatMap((keepDomains) => upDeaths.map((death) => ({ ...death, keepDomains }))),
  )(
    'at change $dieAt, $when it, with its host (domains kept: $keepDomains): the VM runs',
    async ({ keepDomains, ...death }) => {
      const host = await hostWith(null);
      const dying = new DyingAgent(host, death.dieAt, death.when);
      await host.start({ driver: dying.driver, ledger: dying.ledger });
      host.send(UP);
      await until(() => host.agent === null);
      host.driver.reboot({ keepDomains });
      await host.start();
      host.send(UP);
      await host.untilState('vm-1', '1', 'RUNNING');
      expect(host.driver.hypervisor.domain('vm-1')?.resets).toBe(0);
    },
  );
});

describe('an agent that dies while it takes a VM down', () => {
  it.each(downDeaths)(
    'at change $dieAt, $when it: nothing is left and every device has a receipt',
    async (death) => {
      const host = await hostWith(UP);
      const stored = await interrupted(host, DOWN, death);
      await host.untilState('vm-1', '2', 'TAKEN_DOWN');
      await expectNothingLeft(host);
      expect(host.report.receipts?.map(({ pciAddress }) => pciAddress).sort()).toEqual(
        [...VM.devices.map(({ address }) => address)].sort(),
      );
      // A device is cleaned again only if the agent died before its receipt was stored.
      const { cleanings } = host.driver.devices;
      for (const { pciAddress } of stored) expect(cleanings.get(pciAddress)).toBe(1);
    },
  );
});

describe('an agent that dies while it resets a VM', () => {
  it.each(resetDeaths)('at change $dieAt, $when it: the VM was reset once', async (death) => {
    const host = await hostWith(UP);
    await interrupted(host, RESET, death);
    await host.untilState('vm-1', '2', 'RUNNING');
    expect(host.driver.hypervisor.domain('vm-1')).toMatchObject({ starts: 1, resets: 1 });
  });
});

async function expectNothingLeft({ driver }: AgentUnderTest): Promise<void> {
  expect(await driver.hypervisor.list()).toEqual([]);
  expect(await driver.devices.list()).toEqual([]);
  expect(driver.disks.ids()).toEqual([]);
  expect(driver.seeds.vmIds()).toEqual([]);
  expect(driver.network.vmIds()).toEqual([]);
}
