import { pathToFileURL } from 'node:url';
import type { LibvirtHostDriver } from '@gantry/agent/libvirt/libvirt-host-driver';
import type { HostSpec, VmSpec } from '@gantry/agent/spec';
import { makeInterface, makeSpec, makeTakeDown, makeVm } from '@gantry/agent/testing/make-spec';
import { buildTinyGuest } from '@gantry/local/guest/build-tiny-guest';
import { expect } from 'vitest';
import { type DirectAgent, startDirectAgent } from './direct-agent.ts';
import { tinyGuestDirectory } from './guest/tiny-guest-directory.ts';
import { type LibvirtHost, startLibvirtHost } from './host.ts';
import { leftovers } from './leftovers.ts';
import { openHostDriver } from './real-host-driver.ts';
import { writeStandIns } from './stand-ins.ts';
import { withSteps } from './steps.ts';

export const VM = '4f0e4a7c-3f0b-4c59-9d6e-0a4f5b1c2d34';
export const DOMAIN = `gantry-${VM}`;

/** A host with a libvirtd of its own, a VM to run on it, and functions that interfere with it. */
export type OneVmHost = {
  host: LibvirtHost;
  driver: LibvirtHostDriver;
  environment: Record<string, string>;
  vm: VmSpec;
  /** Every change of the host that agents started, in order. */
  steps: string[];
  startAgent(over?: Partial<Parameters<typeof startDirectAgent>[0]>): Promise<DirectAgent>;
  /** A spec with the VM at this generation. Number and revision are equal. */
  wanted(generation: number, number?: number): HostSpec;
  unwanted(number: number): HostSpec;
  virsh(...args: string[]): Promise<string>;
  /** Process ids of all emulators. */
  emulators(): Promise<number[]>;
  /** Excludes the image, which is kept for the next VM, and the table that filters nothing. */
  nothingIsLeft(): Promise<void>;
  stop(): Promise<void>;
};

export async function startOneVmHost(
  name: string,
  over: Record<string, string> = {},
): Promise<OneVmHost> {
  const guest = await buildTinyGuest({ directory: tinyGuestDirectory });
  const host = await startLibvirtHost(name);
  const environment = {
    ...host.environment,
    GANTRY_SYSFS_ROOT: await writeStandIns(host.directory),
    ...over,
  };
  const driver = await openHostDriver({ environment, namespace: host.namespace });
  const agents: DirectAgent[] = [];
  const steps: string[] = [];
  const vm = makeVm(VM, {
    ...{
      cpuCores: 1,
      memoryMib: 256,
      interfaces: [makeInterface('interface', { networkId: 'network-1' })],
    },
    image: { name: 'tiny', url: pathToFileURL(guest.path).href, sha256: guest.sha256, id: '' },
  });
  const disks = vm.disks.map(({ id }) => id);
  return {
    ...{ host, driver, environment, vm, steps },
    async startAgent(over = {}) {
      const agent = await startDirectAgent({
        ...over,
        stateDirectory: over.stateDirectory ?? host.stateDirectory,
        driver: withSteps(over.driver ?? driver, {
          before: (step) => void steps.push(step),
          after: () => {},
        }),
      });
      agents.push(agent);
      return agent;
    },
    wanted(generation, number = generation) {
      const order = { generation: String(generation), revision: String(number) };
      return makeSpec(number, { vms: [{ ...vm, ...order }] });
    },
    unwanted(number) {
      const entry = { revision: String(number), graceful: false, disks };
      return makeSpec(number, { takeDowns: [makeTakeDown(VM, entry)] });
    },
    virsh: (...args) => host.libvirtd.run('virsh', '--quiet', ...args),
    async emulators() {
      const processes = await host.libvirtd.processes();
      return processes
        .filter(({ command }) => command[0]?.includes('qemu-system'))
        .map(({ pid }) => pid);
    },
    async nothingIsLeft() {
      const { files, tables: _, ...rest } = await leftovers(host);
      const others = files.filter((file) => !file.startsWith('images/'));
      expect({ ...rest, files: others }).toEqual({
        ...{ domains: [], links: [], processes: [], rules: [], files: [] },
      });
    },
    async stop() {
      for (const agent of agents) await agent.stop();
      await driver.close();
      await host.stop();
    },
  };
}

/** Sends a spec and waits for the report about it. The spec's number is the VM's revision. */
export async function carriedOut(agent: DirectAgent, spec: HostSpec, state: string): Promise<void> {
  agent.give(spec);
  await expect.poll(() => agent.stateOf(VM, spec.number)).toBe(state);
}
