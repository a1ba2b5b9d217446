import { makeSpec, makeVm } from '@gantry/agent/testing/make-spec';
import { beforeEach, describe, expect, it } from 'vitest';
import { AgentUnderTest, until } from './testing/agent-under-test.ts';

const VM = makeVm('vm-1');
const LIMIT_S = 20;
const freeze = (id: string, release = false) => ({
  ...{ id, vmId: 'vm-1', release, timeLimitSeconds: LIMIT_S },
});

let host: AgentUnderTest;
let number = 0;
const send = (...freezes: ReturnType<typeof freeze>[]) => {
  number += 1;
  host.send(makeSpec(number, { vms: [VM], freezes }));
};
const isFrozen = () => host.driver.hypervisor.domain('vm-1')?.isFrozen;
const stateOf = (id: string) => host.report.freezes?.find((freezing) => freezing.id === id)?.state;
const untilReported = (id: string, state: string) =>
  until(() => stateOf(id) === `FREEZE_STATE_${state}`);

beforeEach(async () => {
  number = 0;
  host = new AgentUnderTest();
  await host.start();
  send();
  await host.untilState('vm-1', '1', 'RUNNING');
});

describe('a guest that is frozen for a snapshot', () => {
  beforeEach(async () => {
    send(freeze('s1'));
    await untilReported('s1', 'FROZEN');
    expect(isFrozen()).toBe(true);
  });

  it('is thawed when its release is ordered, and was frozen until then', async () => {
    send(freeze('s1', true));
    await untilReported('s1', 'RELEASED');
    expect(isFrozen()).toBe(false);
    send();
    await until(() => host.report.freezes?.length === 0);
  });

  it('is thawed when the order is gone', async () => {
    send();
    await until(() => isFrozen() === false);
  });

  it('is thawed without an order when the time is over, and a release comes too late', async () => {
    host.clock.advance(LIMIT_S * 1_000 - 1);
    expect(isFrozen()).toBe(true);
    host.clock.advance(1);
    await untilReported('s1', 'EXPIRED');
    expect(isFrozen()).toBe(false);
    send(freeze('s1', true));
    await until(() => host.report.acceptedNumber === String(number));
    expect(stateOf('s1')).toBe('FREEZE_STATE_EXPIRED');
  });

  it('is not taken for frozen if it was reset meanwhile', async () => {
    await host.driver.hypervisor.reset('vm-1', '1');
    send(freeze('s1', true));
    await untilReported('s1', 'EXPIRED');
  });

  it('is thawed by the agent that is started after a crash, which freezes it for no order twice', async () => {
    host.kill();
    expect(isFrozen()).toBe(true);
    await host.start();
    await until(() => isFrozen() === false);
    send(freeze('s1'));
    await untilReported('s1', 'EXPIRED');
    send(freeze('s1', true));
    await until(() => host.report.acceptedNumber === String(number));
    expect([stateOf('s1'), isFrozen()]).toEqual(['FREEZE_STATE_EXPIRED', false]);
    send(freeze('s2'));
    await untilReported('s2', 'FROZEN');
  });

  it('is thawed before an agent stops', async () => {
    await host.agent?.stop();
    expect(isFrozen()).toBe(false);
  });

  it('is thawed again and again until the guest agent replies', async () => {
    host.driver.faults.failNext('thaw', 2, { code: 'guest_agent_missing', message: 'silent' });
    send(freeze('s1', true));
    await until(() => {
      host.clock.advance(500);
      return stateOf('s1') === 'FREEZE_STATE_RELEASED';
    });
    expect(isFrozen()).toBe(false);
  });

  it('is thawed for each of its snapshots before it is frozen for the next one', async () => {
    send(freeze('s1'), freeze('s2'));
    await until(() => host.report.acceptedNumber === String(number));
    expect([stateOf('s1'), stateOf('s2')]).toEqual(['FREEZE_STATE_FROZEN', undefined]);
    send(freeze('s1', true), freeze('s2'));
    await untilReported('s2', 'FROZEN');
    expect(stateOf('s1')).toBe('FREEZE_STATE_RELEASED');
  });
});

it('a guest without a guest agent is reported as not frozen, with the reason', async () => {
  host.driver.behave({ hasGuestAgent: false });
  send(freeze('s1'));
  await untilReported('s1', 'FAILED');
  expect(host.report.freezes?.[0]?.failure?.code).toBe('guest_agent_missing');
  expect(isFrozen()).toBe(false);
});

it('a guest that freezes although the reply was lost is thawed', async () => {
  const { hypervisor } = host.driver;
  const freezeGuest = hypervisor.freezeGuest.bind(hypervisor);
  hypervisor.freezeGuest = async (vmId) => {
    await freezeGuest(vmId);
    throw new Error('the reply was lost');
  };
  send(freeze('s1'));
  await untilReported('s1', 'FAILED');
  await until(() => isFrozen() === false);
});
