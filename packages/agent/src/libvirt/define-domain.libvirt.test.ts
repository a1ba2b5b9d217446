import { createLog } from '@gantry/daemon/log';
import { connect } from 'node-libvirt/connect';
import type { Connection } from 'node-libvirt/connection';
import { UNDEFINE } from 'node-libvirt/flags';
import { domainUndefineFlags } from 'node-libvirt/generated/procedures';
import { type PrivateLibvirtd, startPrivateLibvirtd } from 'node-libvirt/testing/private-libvirtd';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { NO_PLACES } from '../devices/card-places.ts';
import { makeDisk, makeVm } from '../testing/make-spec.ts';
import { domainDefiner } from './define-domain.ts';
import { domainDescriber } from './domain-xml/describe-domain.ts';
import { ARM_KVM, emulated, X86_KVM } from './domain-xml/testing/gpu-server.ts';
import type { SeenDomain } from './domains/domain-view.ts';
import { findDomain, listDomainIds } from './domains/libvirt-domains.ts';

const platform = process.arch === 'arm64' ? ARM_KVM : X86_KVM;
const NODE = 0;
const CORES = 8;
/** Two threads per core; the first core belongs to the host. */
const HOST_NODE = {
  id: NODE,
  hugepages: [],
  hostCpus: '0,8',
  cores: Array.from({ length: CORES - 1 }, (_, core) => [core + 1, core + 1 + CORES]),
};

let libvirtd: PrivateLibvirtd;
let connection: Connection;

beforeAll(async () => {
  libvirtd = await startPrivateLibvirtd({ network: 'private' });
  connection = await connect({ socketPath: libvirtd.socketPath });
});
afterEach(async () => {
  for (const vmId of await listDomainIds(connection)) await undefine(vmId);
});
afterAll(async () => {
  await connection?.close();
  await libvirtd?.stop();
});

/** A new agent: it knows nothing but what libvirt has. */
function startDefiner() {
  const describer = domainDescriber({
    ...{ platform, vhostNet: false, mtu: 1_450, directIo: false, lockMemory: false },
    volumes: {
      locate: async ({ id }) => ({ type: 'file', path: `/${id}`, format: 'raw', backing: null }),
    },
    seedPath: (vmId) => `/seed/${vmId}`,
    nvramPath: (vmId) => `/nvram/${vmId}`,
    serialLogPath: (vmId) => `/log/${vmId}`,
    placesOf: async () => NO_PLACES,
    numaNodes: async () => [HOST_NODE],
    offersNesting: async () => true,
    hasCliques: async () => false,
    ...{ core: 'thread', log: createLog({ process: 'agent', level: 'silent' }) },
  });
  return domainDefiner({
    // The CPUs are chosen as with KVM. The domain is defined as an emulated one, because libvirt refuses
    // others on a machine without KVM.
    describe: async (vm, neighbours) => ({
      ...(await describer.describe(vm, neighbours)),
      platform: emulated(platform),
    }),
    view: { list: readDomains, noticed: () => {} },
  });
}

async function readDomains(): Promise<SeenDomain[]> {
  const ids = await listDomainIds(connection);
  const read = async (vmId: string) => {
    const last = await findDomain(connection, vmId);
    return { vmId, last, silence: null, attaching: new Set<string>() };
  };
  return await Promise.all(ids.map(read));
}

const idOf = (index: number) => `8d0f1c52-6a3e-4f0b-9c47-${String(index).padStart(12, '0')}`;
function vmOf(index: number, cpuCores: number) {
  return makeVm(idOf(index), {
    cpuCores,
    disks: [makeDisk(`disk-${index}`)],
    interfaces: [],
    numaShares: [{ node: NODE, cpuCores, memoryMib: 16_384 }],
  });
}

async function pinsOf(index: number): Promise<readonly string[]> {
  return (await findDomain(connection, idOf(index)))?.facts.vcpuPins ?? [];
}

async function undefine(vmId: string): Promise<void> {
  const found = await findDomain(connection, vmId);
  if (found)
    await connection.call(domainUndefineFlags, { dom: found.handle, flags: UNDEFINE.nvram });
}

it('VMs that are defined at the same time have different CPUs, and siblings together', async () => {
  const define = startDefiner();
  const indexes = Array.from({ length: CORES - 1 }, (_, index) => index);
  await Promise.all(indexes.map((index) => define(connection, vmOf(index, 2))));
  const pins = await Promise.all(indexes.map(pinsOf));
  expect(new Set(pins.flat()).size).toBe(2 * (CORES - 1));
  for (const [first, second] of pins) expect(Number(second) - Number(first)).toBe(CORES);
});

it('a domain keeps its CPUs when an agent that was restarted defines it again', async () => {
  const define = startDefiner();
  for (const index of [0, 1, 2]) await define(connection, vmOf(index, 4));
  const before = await pinsOf(2);
  await undefine(idOf(0));
  const restarted = startDefiner();
  await restarted(connection, vmOf(2, 4));
  expect(await pinsOf(2)).toEqual(before);
  await restarted(connection, vmOf(3, 4));
  expect(await pinsOf(3)).toEqual(['1', '9', '2', '10']);
});

it('a VM for which too few CPUs are free shares all CPUs for VMs, and reserves none', async () => {
  const define = startDefiner();
  await define(connection, vmOf(0, 12));
  await define(connection, vmOf(1, 4));
  expect(await pinsOf(1)).toEqual(Array(4).fill('1-7,9-15'));
  await define(connection, vmOf(2, 2));
  expect(await pinsOf(2)).toEqual(['7', '15']);
});
