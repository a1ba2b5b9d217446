import { mkdir, mkdtemp, readdir, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeSpec } from '@gantry/agent/testing/make-spec';
import { MIB } from '@gantry/daemon/units';
import { execute } from '@gantry/testkit/real-host/execute';
import { leftovers } from '@gantry/testkit/real-host/leftovers';
import {
  carriedOut,
  DOMAIN,
  type OneVmHost,
  startOneVmHost,
  VM,
} from '@gantry/testkit/real-host/one-vm-host';
import { afterEach, describe, expect, it } from 'vitest';

const STRANGER = '5f0e4a7c-3f0b-4c59-9d6e-0a4f5b1c2d35';

const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function startWorld(over: Record<string, string> = {}): Promise<OneVmHost> {
  const world = await startOneVmHost('strangers', over);
  endings.push(() => world.stop());
  return world;
}

/**
 * A domain that does not belong to Gantry, made from the VM's definition, so that it starts on this
 * machine.
 */
async function startStranger({ host, virsh }: OneVmHost): Promise<void> {
  const own = await virsh('dumpxml', DOMAIN, '--inactive');
  const definition = own
    .replaceAll(/<(disk|interface|serial|console|channel|metadata)\b.*?<\/\1>/gs, '')
    .replaceAll(VM, STRANGER)
    .replace(`gantry-${STRANGER}`, 'stranger');
  const file = join(host.directory, 'stranger.xml');
  await writeFile(file, definition);
  await virsh('define', file);
  await virsh('start', 'stranger');
}

describe('domains that are not in the ledger', () => {
  it('are reported and left alone until a spec names one, which then continues to run', async () => {
    const world = await startWorld();
    const first = await world.startAgent();
    await carriedOut(first, world.wanted(1), 'RUNNING');
    await first.stop();
    await startStranger(world);
    const before = await leftovers(world.host);
    world.steps.length = 0;

    const stateDirectory = join(world.host.directory, 'new-state');
    await mkdir(stateDirectory);
    const second = await world.startAgent({ stateDirectory });
    second.give(makeSpec(1));
    for (const id of [VM, STRANGER]) {
      await expect.poll(() => second.vm(id)?.state).toBe('VM_OBSERVED_STATE_UNKNOWN');
    }
    expect(world.steps.filter((step) => step !== 'network.applyFirewall')).toEqual([]);
    expect(await leftovers(world.host)).toEqual(before);

    await carriedOut(second, world.wanted(1, 2), 'RUNNING');
    expect((await leftovers(world.host)).processes).toEqual(before.processes);
    expect(world.steps).not.toContain('hypervisor.reset');
    await carriedOut(second, world.unwanted(3), 'TAKEN_DOWN');
    const { domains, processes } = await leftovers(world.host);
    expect({ domains, processes: processes.length }).toEqual({
      domains: ['stranger'],
      processes: 1,
    });
    expect(second.vm(STRANGER)?.state).toBe('VM_OBSERVED_STATE_UNKNOWN');
  });

  it('and have the name of a desired VM are not changed; the VM fails with the reason', async () => {
    const world = await startWorld();
    const agent = await world.startAgent();
    await carriedOut(agent, world.wanted(1), 'RUNNING');
    await startStranger(world);
    await carriedOut(agent, world.unwanted(2), 'TAKEN_DOWN');
    await world.virsh('destroy', 'stranger');
    await world.virsh('domrename', 'stranger', DOMAIN);
    await world.virsh('start', DOMAIN);
    const emulators = await world.emulators();
    agent.give(world.wanted(2, 3));
    await expect.poll(() => agent.vm(VM)?.state).toBe('VM_OBSERVED_STATE_FAILED');
    expect(agent.vm(VM)?.failure?.message).toContain(STRANGER);
    await carriedOut(agent, world.unwanted(4), 'TAKEN_DOWN');
    expect(await world.emulators()).toEqual(emulators);
    expect((await world.virsh('domuuid', DOMAIN)).trim()).toBe(STRANGER);
  });
});

describe('a full data directory', () => {
  it('fails a creation with the reason, leaves nothing of it, and does not block a later one', async () => {
    const dataDirectory = await mkdtemp(join(tmpdir(), 'gantry-full-'));
    endings.push(() => rm(dataDirectory, { recursive: true }));
    await execute('mount', '-t', 'tmpfs', '-o', 'size=256m', 'tmpfs', dataDirectory);
    endings.push(() => execute('umount', dataDirectory));
    const world = await startWorld({ GANTRY_DATA_DIRECTORY: dataDirectory });
    const files = async () => {
      const entries = await readdir(dataDirectory, { recursive: true, withFileTypes: true });
      const isFirmware = ({ parentPath }: { parentPath: string }) =>
        parentPath.endsWith('/firmware');
      const kept = entries.filter((entry) => !entry.isDirectory() && !isFirmware(entry));
      return kept.map(({ name }) => name);
    };
    const ballast = join(dataDirectory, 'ballast');
    const { bavail, bsize } = await statfs(dataDirectory);
    await writeFile(ballast, Buffer.alloc(bavail * bsize - MIB));

    const agent = await world.startAgent();
    agent.give(world.wanted(1));
    await expect.poll(() => agent.vm(VM)?.state).toBe('VM_OBSERVED_STATE_FAILED');
    expect(agent.vm(VM)?.failure).toMatchObject({
      code: expect.stringMatching(/^(storage_full|image_unavailable)$/),
      message: expect.stringMatching(/space/),
    });
    expect(await files()).toEqual(['ballast']);
    await rm(ballast);
    await carriedOut(agent, world.wanted(1, 2), 'RUNNING');
    await carriedOut(agent, world.unwanted(3), 'TAKEN_DOWN');
    expect(await files()).toHaveLength(1);
  });
});
