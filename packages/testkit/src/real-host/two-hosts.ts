import { pathToFileURL } from 'node:url';
import type { LibvirtHostDriver } from '@gantry/agent/libvirt/libvirt-host-driver';
import type { FirewallRule, VmSpec } from '@gantry/agent/spec';
import { makeInterface, makeNetwork, makeSpec, makeVm } from '@gantry/agent/testing/make-spec';
import { buildTinyGuest } from '@gantry/local/guest/build-tiny-guest';
import { expect, vi } from 'vitest';
import { startDirectAgent } from './direct-agent.ts';
import { type GuestShell, openGuestShell } from './guest/guest-shell.ts';
import { tinyGuestDirectory } from './guest/tiny-guest-directory.ts';
import { type LibvirtHost, startLibvirtHost } from './host.ts';
import { openHostDriver } from './real-host-driver.ts';
import { writeStandIns } from './stand-ins.ts';

export const NETWORK = 'red';

/** A host, and its only VM. */
export type HostWithVm = {
  host: LibvirtHost;
  vm: VmSpec;
  /** Without the prefix length. */
  privateIpv4: string;
  guest: GuestShell;
};

/** Two hosts with an agent and a VM each, and a network that spans both. */
export type TwoHosts = {
  places: readonly [HostWithVm, HostWithVm];
  /** Sends the rules to both hosts. Resolves when they are in force on both. */
  apply(rules: readonly FirewallRule[]): Promise<void>;
  stop(): Promise<void>;
};

const VMS = [
  { id: '5a0e4a7c-3f0b-4c59-9d6e-0a4f5b1c2d05', name: 'web', last: 5 },
  { id: '5a0e4a7c-3f0b-4c59-9d6e-0a4f5b1c2d06', name: 'app', last: 6 },
] as const;

/** Also used before the first test, where nothing can be polled. An emulated guest boots slowly. */
const PATIENCE = { timeout: 300_000, interval: 200 };

type Ending = () => Promise<void>;
type Prepared = {
  host: LibvirtHost;
  driver: LibvirtHostDriver;
  agent: Awaited<ReturnType<typeof startDirectAgent>>;
  vm: VmSpec;
  /** As the agent reports it to the control plane. */
  underlayIpv4: string;
};

/** Resolves when both guests are up. The rules are in force before the guests start. */
export async function startTwoHosts(rules: readonly FirewallRule[]): Promise<TwoHosts> {
  const endings: Ending[] = [];
  const stop = async () => {
    for (const end of endings.splice(0).reverse()) await end();
  };
  try {
    const image = await buildTinyGuest({ directory: tinyGuestDirectory });
    const source = {
      name: 'tiny',
      url: pathToFileURL(image.path).href,
      sha256: image.sha256,
      id: '',
    };
    const prepared: [Prepared, Prepared] = [
      await prepare(endings, makeGuest(VMS[0], source)),
      await prepare(endings, makeGuest(VMS[1], source)),
    ];
    const apply = applyTo(prepared);
    await apply(rules);
    const [first, second] = prepared.map((one) => open(endings, one));
    if (!first || !second) throw new Error('BUG: not two hosts');
    return { places: await Promise.all([first, second]), apply, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function makeGuest({ id, name, last }: (typeof VMS)[number], image: VmSpec['image']): VmSpec {
  const iface = makeInterface(`interface-${name}`, {
    ...{ networkId: NETWORK, mac: `02:00:00:00:00:0${last}`, privateIpv4: `10.0.0.${last}/24` },
  });
  const startupScript = `#!/bin/sh\necho the secret of ${name} >/run/secret\n`;
  return makeVm(id, {
    name,
    image,
    startupScript,
    cpuCores: 1,
    memoryMib: 256,
    interfaces: [iface],
  });
}

async function prepare(endings: Ending[], vm: VmSpec): Promise<Prepared> {
  const host = await startLibvirtHost(`two-${vm.name}`);
  endings.push(host.stop);
  const environment = {
    ...host.environment,
    GANTRY_SYSFS_ROOT: await writeStandIns(host.directory),
  };
  const driver = await openHostDriver({ environment, namespace: host.namespace });
  endings.push(driver.close);
  const agent = await startDirectAgent({ driver, stateDirectory: host.stateDirectory });
  endings.push(agent.stop);
  const { underlayIpv4 = '' } = await driver.readInventory();
  return { host, driver, agent, vm, underlayIpv4 };
}

/**
 * Sends each host the spec with its VM and the address of the other VM, as the control plane does.
 */
function applyTo(prepared: readonly [Prepared, Prepared]): TwoHosts['apply'] {
  const [first, second] = prepared;
  let number = 0;
  const tell = async ({ agent, driver, vm }: Prepared, other: Prepared, rules: FirewallRule[]) => {
    const neighbours = other.vm.interfaces.map(({ mac, privateIpv4 }) => {
      return { mac, privateIpv4: withoutPrefix(privateIpv4), hostIpv4: other.underlayIpv4 };
    });
    const networks = [makeNetwork(NETWORK, { vni: 7001, neighbours })];
    agent.give(makeSpec(number, { vms: [vm], firewallRules: rules, networks }));
    const firewall = { rules, networks, interfaces: vm.interfaces };
    await vi.waitFor(
      async () => expect(await driver.network.isInForce(firewall)).toBe(true),
      PATIENCE,
    );
  };
  return async (rules) => {
    number += 1;
    await Promise.all([tell(first, second, [...rules]), tell(second, first, [...rules])]);
  };
}

async function open(endings: Ending[], { host, driver, vm }: Prepared): Promise<HostWithVm> {
  await vi.waitFor(
    async () =>
      expect(String(await driver.hypervisor.readSerialLog(vm.id))).toContain('TINY: READY'),
    PATIENCE,
  );
  const { socketPath } = host.libvirtd;
  const guest = await openGuestShell({ socketPath, domain: `gantry-${vm.id}` });
  endings.push(guest.close);
  return { host, vm, guest, privateIpv4: withoutPrefix(vm.interfaces[0]?.privateIpv4 ?? '') };
}

function withoutPrefix(address: string): string {
  return address.split('/')[0] ?? '';
}
