import { readdir } from 'node:fs/promises';
import type { DirectAgent } from '@gantry/testkit/real-host/direct-agent';
import {
  carriedOut,
  DOMAIN,
  type OneVmHost,
  startOneVmHost,
  VM,
} from '@gantry/testkit/real-host/one-vm-host';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

/**
 * Long enough that only the return of libvirtd causes another attempt, and not the passing of time.
 */
const timings = { failedMs: 3_600_000 };

let world: OneVmHost;
let agent: DirectAgent;

beforeEach(async () => {
  world = await startOneVmHost('daemons');
  agent = await world.startAgent({ timings });
});
afterEach(() => world.stop());

const kill = (name: 'libvirtd' | 'virtlogd', signal: NodeJS.Signals = 'SIGKILL') =>
  process.kill(world.host.libvirtd.pids[name], signal);
const state = () => agent.stateOf(VM, '1');
const isGone = async () => {
  await carriedOut(agent, world.unwanted(9), 'TAKEN_DOWN');
  await agent.stop();
  await world.nothingIsLeft();
};

describe('a libvirtd that is stopped for a long time', () => {
  it('during a creation is reported as the failure of the VM; the VM runs when libvirtd is back', async () => {
    let isKilled = false;
    const { hypervisor } = world.driver;
    const define = hypervisor.define.bind(hypervisor);
    hypervisor.define = async (vm, kept) => {
      if (!isKilled) kill('libvirtd');
      isKilled = true;
      return await define(vm, kept);
    };
    agent.give(world.wanted(1));
    await expect.poll(() => agent.vm(VM)?.state).toBe('VM_OBSERVED_STATE_FAILED');
    expect(agent.vm(VM)?.failure).toMatchObject({
      code: 'libvirt_unresponsive',
      message: expect.stringContaining('libvirt does not reply'),
    });
    await world.host.libvirtd.startDaemon('libvirtd');
    await expect.poll(state).toBe('RUNNING');
    await expect.poll(() => agent.vm(VM)?.failure).toBeNull();
    await isGone();
  });

  it('before a spec arrives is reported as the reason of the delay; the spec is carried out when libvirtd is back', async () => {
    await expect.poll(() => agent.vm(VM)).toBeUndefined();
    kill('libvirtd');
    agent.give(world.wanted(1));
    await expect.poll(() => agent.refusal()).toContain('libvirt does not reply');
    await world.host.libvirtd.startDaemon('libvirtd');
    await expect.poll(state).toBe('RUNNING');
    await expect.poll(() => agent.refusal()).toBeUndefined();
  });
});

describe('a libvirtd that hangs', () => {
  it('is reported beside the last known state; afterwards the spec is carried out once', async () => {
    await carriedOut(agent, world.wanted(1), 'RUNNING');
    const emulators = await world.emulators();
    kill('libvirtd', 'SIGSTOP');
    try {
      agent.give(world.wanted(1, 2));
      await expect.poll(() => agent.refusal()).toContain('libvirt');
      expect(agent.vm(VM)).toMatchObject({
        state: 'VM_OBSERVED_STATE_RUNNING',
        failure: { code: 'libvirt_unresponsive', message: expect.stringContaining('libvirt') },
      });
    } finally {
      kill('libvirtd', 'SIGCONT');
    }
    await expect.poll(() => agent.stateOf(VM, '2')).toBe('RUNNING');
    await expect.poll(() => agent.vm(VM)?.failure).toBeNull();
    expect(await world.emulators()).toEqual(emulators);
    expect(world.steps).not.toContain('hypervisor.reset');
    await isGone();
  });

  it('during a start leaves a VM that runs once and was not reset', async () => {
    const { hypervisor } = world.driver;
    const start = hypervisor.start.bind(hypervisor);
    const ends: string[] = [];
    let stopped: Promise<unknown> | undefined;
    hypervisor.start = async (vmId, generation) => {
      const starting = start(vmId, generation);
      if (ends.length === 0) stopped = untilEmulated().then(() => kill('libvirtd', 'SIGSTOP'));
      try {
        await starting;
      } finally {
        ends.push('ended');
      }
    };
    agent.give(world.wanted(1));
    try {
      await expect.poll(() => ends).not.toEqual([]);
    } finally {
      await stopped;
      kill('libvirtd', 'SIGCONT');
    }
    await expect.poll(state).toBe('RUNNING');
    expect(await world.emulators()).toHaveLength(1);
    expect(world.steps).not.toContain('hypervisor.reset');
    await isGone();
  });
});

describe('a virtlogd that is killed', () => {
  it('ends no guest, blocks no take-down, and is reported by the start that needs it', async () => {
    await carriedOut(agent, world.wanted(1), 'RUNNING');
    await expect.poll(() => world.driver.hypervisor.readSerialLog(VM)).not.toBe('');
    kill('virtlogd');
    await world.virsh('destroy', DOMAIN);
    await expect.poll(state).toBe('CRASHED');
    agent.give(world.wanted(2));
    await expect.poll(() => agent.vm(VM)?.state).toBe('VM_OBSERVED_STATE_FAILED');
    expect(agent.vm(VM)?.failure?.message).toContain('virtlogd');
    await world.host.libvirtd.startDaemon('virtlogd');
    await carriedOut(agent, world.wanted(3), 'RUNNING');
    const before = await world.driver.hypervisor.readSerialLog(VM);
    await expect
      .poll(async () => (await world.driver.hypervisor.readSerialLog(VM)).length)
      .toBeGreaterThan(before.length);
    kill('virtlogd');
    await isGone();
  });
});

describe('a libvirtd that is killed many times', () => {
  it('leaves no sockets or listeners behind and does not change the VM', async () => {
    await carriedOut(agent, world.wanted(1), 'RUNNING');
    const emulators = await world.emulators();
    const open = async () => (await readdir('/proc/self/fd')).length;
    const again = async () => {
      kill('libvirtd');
      await world.host.libvirtd.startDaemon('libvirtd');
      await expect.poll(() => world.driver.hypervisor.list()).toHaveLength(1);
    };
    await again();
    const before = await open();
    for (let times = 0; times < 20; times += 1) await again();
    await expect.poll(open).toBeLessThanOrEqual(before);
    expect(await world.emulators()).toEqual(emulators);
    expect(world.steps).not.toContain('hypervisor.reset');
    // Events still arrive. Shortly after its start the daemon may fail to end the domain, or end it
    // and report that it did not.
    const end = async () => {
      await world.virsh('destroy', DOMAIN).catch(() => {});
      return state();
    };
    await expect.poll(end).toBe('CRASHED');
  });
});

async function untilEmulated(): Promise<void> {
  while ((await world.emulators()).length === 0) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
