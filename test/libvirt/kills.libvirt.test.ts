import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import type { HostDriver } from '@gantry/agent/host-driver';
import type { LibvirtHostDriver } from '@gantry/agent/libvirt/libvirt-host-driver';
import type { HostSpec, VmSpec } from '@gantry/agent/spec';
import {
  gpu,
  makeInterface,
  makeSpec,
  makeTakeDown,
  makeVm,
} from '@gantry/agent/testing/make-spec';
import { buildTinyGuest, type TinyGuest } from '@gantry/local/guest/build-tiny-guest';
import { type DirectAgent, startDirectAgent } from '@gantry/testkit/real-host/direct-agent';
import { tinyGuestDirectory } from '@gantry/testkit/real-host/guest/tiny-guest-directory';
import { type LibvirtHost, startLibvirtHost } from '@gantry/testkit/real-host/host';
import { leftovers } from '@gantry/testkit/real-host/leftovers';
import type { MortalAgentOrder } from '@gantry/testkit/real-host/mortal-agent';
import { makeMortalProgram } from '@gantry/testkit/real-host/mortal-program';
import { openHostDriver } from '@gantry/testkit/real-host/real-host-driver';
import { writeStandIns } from '@gantry/testkit/real-host/stand-ins';
import { withSteps } from '@gantry/testkit/real-host/steps';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

const VM = '3f0e4a7c-3f0b-4c59-9d6e-0a4f5b1c2d33';

let guest: TinyGuest;
let host: LibvirtHost;
let driver: LibvirtHostDriver;
let environment: Record<string, string>;
let vm: VmSpec;

beforeAll(async () => {
  guest = await buildTinyGuest({ directory: tinyGuestDirectory });
});
beforeEach(async () => {
  host = await startLibvirtHost('kills');
  environment = { ...host.environment, GANTRY_SYSFS_ROOT: await writeStandIns(host.directory) };
  driver = await openHostDriver({ environment, namespace: host.namespace });
  const { devices = [] } = await driver.readInventory();
  vm = makeVm(VM, {
    ...{ cpuCores: 1, memoryMib: 256, devices: [gpu(devices[0]?.address ?? '')] },
    interfaces: [makeInterface('interface', { networkId: 'network-1' })],
    image: { name: 'tiny', url: pathToFileURL(guest.path).href, sha256: guest.sha256, id: '' },
  });
});
afterEach(async () => {
  await driver.close();
  await host.stop();
});

/** The agent is also killed after each step, unless a concurrent step came first. */
const before = (step: string) => `before ${step}`;

const wanted = (): HostSpec => makeSpec(1, { vms: [vm] });
const unwanted = (): HostSpec =>
  makeSpec(2, {
    takeDowns: [
      makeTakeDown(VM, {
        ...{ revision: '2', graceful: false, devices: vm.devices },
        disks: vm.disks.map(({ id }) => id),
      }),
    ],
  });

/** Excludes the image, which is kept for the next VM, and the table that filters nothing. */
async function nothingIsLeft(): Promise<void> {
  const { files, tables: _, ...rest } = await leftovers(host);
  const others = files.filter((file) => !file.startsWith('images/'));
  expect({ ...rest, files: others }).toEqual({
    ...{ domains: [], links: [], processes: [], rules: [], files: [] },
  });
}

const running = async () =>
  (await host.libvirtd.run('virsh', 'list', '--name')).trim() === `gantry-${VM}`;
const emulators = async () =>
  (await host.libvirtd.processes()).filter(({ command }) => command[0]?.includes('qemu-system'));

describe('an agent that is killed at every step', () => {
  let program: Awaited<ReturnType<typeof makeMortalProgram>>;
  beforeAll(async () => {
    program = await makeMortalProgram();
  });
  afterAll(() => program?.remove());

  /**
   * Starts the agent again and again. Each run is killed at a point at which no earlier run was
   * killed, until one run completes.
   */
  async function livesUntil(order: Pick<MortalAgentOrder, 'spec' | 'revision' | 'state'>) {
    const deaths: string[] = [];
    for (;;) {
      const place = { environment, namespace: host.namespace };
      const { stateDirectory } = host;
      const life = spawn(process.execPath, [program.file], { stdio: ['pipe', 'pipe', 'inherit'] });
      life.stdin.end(JSON.stringify({ ...order, vmId: VM, place, stateDirectory, deaths }));
      const [word, [code]] = await Promise.all([text(life.stdout), once(life, 'exit')]);
      if (code === 0) return deaths;
      const point = word.split('\n').at(-1) ?? '';
      expect(deaths).not.toContain(point);
      deaths.push(point);
    }
  }

  it('of a creation and of a take-down is replaced by one that finishes the work', async () => {
    const created = await livesUntil({ spec: wanted(), revision: '1', state: 'RUNNING' });
    expect(created).toEqual(
      expect.arrayContaining(
        [
          ...[
            'volumes.create',
            'seeds.ensure',
            'network.applyFirewall',
            'network.ensureInterfaces',
          ],
          ...['devices.bind', 'hypervisor.define', 'hypervisor.start'],
        ].map(before),
      ),
    );
    expect(await running()).toBe(true);
    const takenDown = await livesUntil({ spec: unwanted(), revision: '2', state: 'TAKEN_DOWN' });
    expect(takenDown).toEqual(
      expect.arrayContaining(
        [
          ...['hypervisor.powerOff', 'hypervisor.undefine', 'devices.release'],
          ...['network.removeInterfaces', 'seeds.remove', 'volumes.remove'],
        ].map(before),
      ),
    );
    await nothingIsLeft();
  });
});

describe('libvirtd that is killed before every step', () => {
  it('of a creation and of a take-down delays both, and both finish', async () => {
    const killed: string[] = [];
    const agent = await startDirectAgent({
      stateDirectory: host.stateDirectory,
      driver: withSteps(driver, {
        before: async (step) => {
          killed.push(step);
          await host.libvirtd.restartDaemon('libvirtd');
        },
        after: () => {},
      }),
    });
    await carriedOut(agent, wanted(), '1', 'RUNNING');
    expect(await running()).toBe(true);
    await carriedOut(agent, unwanted(), '2', 'TAKEN_DOWN');
    expect(new Set(killed)).toContain('hypervisor.start');
    await agent.stop();
    await nothingIsLeft();
  });

  it('during a start leaves a VM that runs once', async () => {
    const agent = await startDirectAgent({
      stateDirectory: host.stateDirectory,
      driver: duringFirstStart(async () => {
        await host.libvirtd.restartDaemon('libvirtd');
      }),
    });
    await carriedOut(agent, wanted(), '1', 'RUNNING');
    expect(await emulators()).toHaveLength(1);
    await carriedOut(agent, unwanted(), '2', 'TAKEN_DOWN');
    await agent.stop();
    await nothingIsLeft();
  });
});

describe('QEMU that is killed', () => {
  const killEmulator = async () => {
    for (const { pid } of await emulators()) process.kill(pid, 'SIGKILL');
  };

  it('as soon as it exists leaves a VM that runs or is reported as crashed', async () => {
    const agent = await startDirectAgent({
      stateDirectory: host.stateDirectory,
      driver: duringFirstStart(killEmulator),
    });
    agent.give(wanted());
    await expect.poll(() => agent.stateOf(VM, '1')).toMatch(/RUNNING|CRASHED/);
    await carriedOut(agent, unwanted(), '2', 'TAKEN_DOWN');
    await agent.stop();
    await nothingIsLeft();
  });

  it('later is reported as crashed and started by the next power action; during a take-down it is gone', async () => {
    const agent = await startDirectAgent({
      stateDirectory: host.stateDirectory,
      driver: withSteps(driver, {
        before: (step) => (step === 'hypervisor.powerOff' ? killEmulator() : undefined),
        after: () => {},
      }),
    });
    await carriedOut(agent, wanted(), '1', 'RUNNING');
    await killEmulator();
    await expect.poll(() => agent.stateOf(VM, '1')).toBe('CRASHED');
    const again = makeSpec(2, { vms: [{ ...vm, revision: '2', generation: '2' }] });
    await carriedOut(agent, again, '2', 'RUNNING');
    const [last] = unwanted().takeDowns;
    if (!last) throw new Error('BUG: no entry');
    const gone = makeSpec(3, { takeDowns: [{ ...last, revision: '3' }] });
    await carriedOut(agent, gone, '3', 'TAKEN_DOWN');
    await agent.stop();
    await nothingIsLeft();
  });
});

async function carriedOut(
  agent: DirectAgent,
  spec: HostSpec,
  revision: string,
  state: string,
): Promise<void> {
  agent.give(spec);
  await expect.poll(() => agent.stateOf(VM, revision)).toBe(state);
}

/** Returns the host driver. Calls `happen` when its first start has started an emulator. */
function duringFirstStart(happen: () => Promise<void>): HostDriver {
  let starts = 0;
  return withSteps(driver, {
    before: (step) => {
      if (step !== 'hypervisor.start') return;
      starts += 1;
      if (starts === 1) void untilEmulated().then(happen);
    },
    after: () => {},
  });
}

async function untilEmulated(): Promise<void> {
  while ((await emulators()).length === 0) await new Promise((resolve) => setImmediate(resolve));
}
