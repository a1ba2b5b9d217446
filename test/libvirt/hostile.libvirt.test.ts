import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HostSpec } from '@gantry/agent/spec';
import type { DirectAgent } from '@gantry/testkit/real-host/direct-agent';
import {
  carriedOut,
  DOMAIN,
  type OneVmHost,
  startOneVmHost,
  VM,
} from '@gantry/testkit/real-host/one-vm-host';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const NAMESPACE = 'https://gantry.dev/xmlns/domain/1';

let world: OneVmHost;
let agent: DirectAgent;

beforeEach(async () => {
  world = await startOneVmHost('hostile');
  agent = await world.startAgent();
  await carriedOut(agent, world.wanted(1), 'RUNNING');
});
afterEach(() => world.stop());

const state = () => agent.stateOf(VM, '1');
/** For the agent the host has rebooted: all domains have ended with it. */
const startAgentAfterReboot = () =>
  world.startAgent({ driver: { ...world.driver, readBootId: async () => 'after-a-reboot' } });
const isGone = async (spec: HostSpec) => {
  await carriedOut(agent, spec, 'TAKEN_DOWN');
  await agent.stop();
  await world.nothingIsLeft();
};
const xml = (...flags: string[]) => world.virsh('dumpxml', DOMAIN, ...flags);
/** Replaces its definition as an operator does with `virsh edit`. */
const edit = async (change: (definition: string) => string) => {
  const file = join(world.host.directory, 'edited.xml');
  await writeFile(file, change(await xml('--inactive')));
  await world.virsh('define', file);
};
const listed = async (...flags: string[]) =>
  (await world.virsh('list', '--all', '--name', ...flags)).split('\n').filter(Boolean);

describe('a domain destroyed by hand', () => {
  it('is reported as crashed and stays down until the next power action', async () => {
    await world.virsh('destroy', DOMAIN);
    await expect.poll(state).toBe('CRASHED');
    expect(world.steps.filter((step) => step === 'hypervisor.start')).toHaveLength(1);
    await carriedOut(agent, world.wanted(2), 'RUNNING');
    await isGone(world.unwanted(3));
  });

  it('and renamed is started under its own name by the next power action', async () => {
    await world.virsh('destroy', DOMAIN);
    await expect.poll(state).toBe('CRASHED');
    await world.virsh('domrename', DOMAIN, 'mine-now');
    await carriedOut(agent, world.wanted(2), 'RUNNING');
    expect(await listed()).toEqual([DOMAIN]);
    await isGone(world.unwanted(3));
  });

  it('and undefined is reported as crashed, and its take-down leaves nothing', async () => {
    await world.virsh('destroy', DOMAIN);
    await world.virsh('undefine', DOMAIN, '--keep-nvram');
    await expect.poll(state).toBe('CRASHED');
    await isGone(world.unwanted(2));
  });
});

describe('a domain undefined by hand while it runs', () => {
  it('keeps running and is defined again', async () => {
    const emulators = await world.emulators();
    await world.virsh('undefine', DOMAIN, '--keep-nvram');
    await expect.poll(() => listed('--persistent')).toEqual([DOMAIN]);
    await expect.poll(state).toBe('RUNNING');
    expect(await world.emulators()).toEqual(emulators);
    await isGone(world.unwanted(2));
  });

  it('is reset once if the spec asks for a reset', async () => {
    await agent.stop();
    await world.virsh('undefine', DOMAIN, '--keep-nvram');
    agent = await world.startAgent();
    await carriedOut(agent, world.wanted(2), 'RUNNING');
    expect(world.steps.filter((step) => step === 'hypervisor.reset')).toHaveLength(1);
    expect(await listed('--persistent')).toEqual([DOMAIN]);
  });

  it('and ended while the agent is stopped is reported as crashed, and its take-down leaves nothing', async () => {
    await agent.stop();
    await world.virsh('undefine', DOMAIN, '--keep-nvram');
    await world.virsh('destroy', DOMAIN);
    agent = await world.startAgent();
    await expect.poll(state).toBe('CRASHED');
    await isGone(world.unwanted(2));
  });
});

describe('the metadata of a domain', () => {
  const metadata = (...args: string[]) => world.virsh('metadata', DOMAIN, NAMESPACE, ...args);
  const isKept = async () => {
    const own = new RegExp(`:vm [^>]*id="${VM}" revision="1" generation="1"`);
    await expect.poll(() => xml()).toMatch(own);
    await expect.poll(() => xml('--inactive')).toMatch(own);
    await expect.poll(state).toBe('RUNNING');
    expect(world.steps).not.toContain('hypervisor.reset');
  };

  it('is restored after it is removed by hand, and the guest keeps running', async () => {
    const emulators = await world.emulators();
    await metadata('--remove', '--live', '--config');
    await isKept();
    await agent.stop();
    await metadata('--remove', '--live', '--config');
    agent = await world.startAgent();
    await isKept();
    expect(await world.emulators()).toEqual(emulators);
    await isGone(world.unwanted(2));
  });

  it('is restored after it is damaged by hand, and the guest keeps running', async () => {
    const damage = '<vm id="somebody" revision="-1" generation="x"/>';
    await metadata('--set', damage, '--key', 'gantry', '--live', '--config');
    await isKept();
  });

  it('that a stopped domain has lost does not cause a start', async () => {
    await agent.stop();
    await world.virsh('destroy', DOMAIN);
    await metadata('--remove', '--config');
    agent = await world.startAgent();
    await expect.poll(state).toBe('CRASHED');
    expect(await world.emulators()).toEqual([]);
    await carriedOut(agent, world.wanted(2), 'RUNNING');
  });
});

describe('a definition edited by hand', () => {
  it('does not affect the running guest, and is undone before the next start', async () => {
    const emulators = await world.emulators();
    const live = await xml();
    await edit((definition) => definition.replaceAll('262144', '524288').replace(/vd[a-z]/, 'vdq'));
    expect(await xml()).toBe(live);
    await agent.stop();
    agent = await world.startAgent();
    await expect.poll(state).toBe('RUNNING');
    expect(await world.emulators()).toEqual(emulators);
    await agent.stop();
    await world.virsh('destroy', DOMAIN);
    agent = await startAgentAfterReboot();
    await expect.poll(state).toBe('RUNNING');
    const again = await xml();
    expect(again).toMatch(/<memory [^>]*>262144</);
    expect(again).not.toContain('vdq');
    await isGone(world.unwanted(2));
  });
});

describe('a definition of an earlier agent process', () => {
  it('with paths that no longer exist is corrected before the next start', async () => {
    await agent.stop();
    await world.virsh('destroy', DOMAIN);
    await edit((definition) => definition.replaceAll(world.host.dataDirectory, '/srv/of-old'));
    agent = await startAgentAfterReboot();
    await expect.poll(state).toBe('RUNNING');
    expect(await xml()).not.toContain('/srv/of-old');
    await isGone(world.unwanted(2));
  });
});

describe('a disk detached by hand', () => {
  it('is attached again', async () => {
    const data = { ...world.vm.disks[0], id: 'data', serialNumber: 'data', sizeBytes: '1048576' };
    const [vm] = world.wanted(1, 2).vms;
    if (!vm) throw new Error('BUG: no VM');
    const disks = [...vm.disks, data as (typeof vm.disks)[number]];
    await carriedOut(agent, { ...world.wanted(1, 2), vms: [{ ...vm, disks }] }, 'RUNNING');
    await expect.poll(() => world.driver.hypervisor.readSerialLog(VM)).toContain('TINY: READY');
    const before = world.steps.filter((step) => step === 'hypervisor.attachDisk').length;
    await world.virsh('detach-disk', DOMAIN, 'vdb', '--live');
    await expect
      .poll(() => world.steps.filter((step) => step === 'hypervisor.attachDisk').length)
      .toBe(before + 1);
    await expect.poll(() => agent.vm(VM)?.disks?.length).toBe(2);
    expect(agent.stateOf(VM, '2')).toBe('RUNNING');
  });
});

describe('a guest paused by hand', () => {
  it('counts as running and stays paused until it is reset', async () => {
    await world.virsh('suspend', DOMAIN);
    await agent.stop();
    agent = await world.startAgent();
    await expect.poll(state).toBe('RUNNING');
    expect((await world.virsh('domstate', DOMAIN)).trim()).toBe('paused');
    await carriedOut(agent, world.wanted(2), 'RUNNING');
    expect((await world.virsh('domstate', DOMAIN)).trim()).toBe('running');
    await world.virsh('suspend', DOMAIN);
    await isGone(world.unwanted(3));
  });
});
