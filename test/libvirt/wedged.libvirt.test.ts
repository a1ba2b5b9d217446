import type { HostSpec } from '@gantry/agent/spec';
import { makeInterface, makeTakeDown } from '@gantry/agent/testing/make-spec';
import type { DirectAgent } from '@gantry/testkit/real-host/direct-agent';
import { type DomainGates, installGates } from '@gantry/testkit/real-host/domain-gates';
import {
  carriedOut,
  DOMAIN,
  type OneVmHost,
  startOneVmHost,
  VM,
} from '@gantry/testkit/real-host/one-vm-host';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const OTHER = '5f0e4a7c-3f0b-4c59-9d6e-0a4f5b1c2d35';
const DISK = `${VM}-os`;

let world: OneVmHost;
let agent: DirectAgent;
let gates: DomainGates;

beforeEach(async () => {
  world = await startOneVmHost('wedged');
  gates = await installGates(world.host);
  agent = await world.startAgent();
  await carriedOut(agent, world.wanted(1), 'RUNNING');
});
afterEach(() => world.stop());

/** The same spec with another VM beside the first. */
const withOther = (spec: HostSpec, number: number): HostSpec => {
  const interfaces = [makeInterface('other', { networkId: 'network-1' })];
  const disks = world.vm.disks.map((disk) => ({ ...disk, id: `${OTHER}-os` }));
  const order = { revision: String(number), generation: '1' };
  const other = { ...world.vm, ...order, id: OTHER, interfaces, disks };
  return { ...spec, number: String(number), vms: [...spec.vms, other] };
};
const withoutOther = (spec: HostSpec, number: number): HostSpec => {
  const entry = { revision: String(number), graceful: false, disks: [`${OTHER}-os`] };
  const takeDowns = [...spec.takeDowns, makeTakeDown(OTHER, entry)];
  return { ...spec, number: String(number), takeDowns };
};

/** Creates the other VM, and stops and removes it. */
async function otherLivesAndEnds(spec: HostSpec): Promise<void> {
  const number = Number(spec.number);
  agent.give(withOther(spec, number + 1));
  await expect.poll(() => agent.stateOf(OTHER, String(number + 1))).toBe('RUNNING');
  agent.give(withoutOther(spec, number + 2));
  await expect.poll(() => agent.vm(OTHER)?.state).toBe('VM_OBSERVED_STATE_TAKEN_DOWN');
  expect(await world.driver.volumes.read(`${OTHER}-os`)).toBeNull();
}

const failureCode = () => agent.vm(VM)?.failure?.code;

describe('a domain that libvirt cannot kill', () => {
  it('delays only its own take-down, which ends as soon as libvirt is done', async () => {
    const gate = await gates.close(DOMAIN, 'stopped');
    agent.give(world.unwanted(2));
    await gate.reached();
    await otherLivesAndEnds(world.unwanted(2));
    expect(agent.vm(VM)?.state).not.toBe('VM_OBSERVED_STATE_TAKEN_DOWN');
    expect(await world.driver.volumes.read(DISK)).not.toBeNull();
    await gate.open();
    await carriedOut(agent, world.unwanted(9), 'TAKEN_DOWN');
    await agent.stop();
    await world.nothingIsLeft();
  });

  it('keeps its last known state, with the reason, and is neither started again nor loses its disk', async () => {
    const gate = await gates.close(DOMAIN, 'stopped');
    const destroying = world.virsh('destroy', DOMAIN);
    await gate.reached();
    await otherLivesAndEnds(world.wanted(1));
    agent.give(world.wanted(1, 9));
    await expect.poll(failureCode).toBe('vm_unresponsive');
    expect(agent.vm(VM)).toMatchObject({
      state: 'VM_OBSERVED_STATE_RUNNING',
      failure: { message: expect.stringContaining('libvirt did not reply') },
    });
    const { hypervisor, volumes } = world.driver;
    await expect(hypervisor.read(VM)).rejects.toMatchObject({ code: 'vm_unresponsive' });
    await expect(hypervisor.start(VM, '1')).rejects.toMatchObject({ code: 'vm_unresponsive' });
    await expect(hypervisor.undefine(VM)).rejects.toMatchObject({ code: 'vm_unresponsive' });
    await expect(volumes.remove(DISK)).rejects.toMatchObject({ code: 'disk_in_use' });
    await gate.open();
    await destroying;
    await expect.poll(() => agent.vm(VM)?.state).toBe('VM_OBSERVED_STATE_CRASHED');
    await expect.poll(failureCode).toBeUndefined();
  });
});

describe('a QEMU that has stopped replying', () => {
  it('fails its own orders, delays no other VM, and can be removed', async () => {
    const [emulator = 0] = await world.emulators();
    process.kill(emulator, 'SIGSTOP');
    agent.give(world.wanted(2));
    await expect.poll(failureCode).toBe('vm_unresponsive');
    await otherLivesAndEnds(world.wanted(2));
    expect(await world.emulators()).toEqual([emulator]);
    await carriedOut(agent, world.unwanted(9), 'TAKEN_DOWN');
    await agent.stop();
    await world.nothingIsLeft();
  });
});
