import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CATALOGUE } from '@gantry/model/vm-types';
import { type PrivateLibvirtd, startPrivateLibvirtd } from 'node-libvirt/testing/private-libvirtd';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { makeDisk } from '../../testing/make-spec.ts';
import { detectPlatform } from '../platform/platform.ts';
import { describeDisks, slotsOf } from './describe-disks.ts';
import { describeDomain } from './describe-domain.ts';
import { DOMAIN_NAMESPACE, DOMAIN_NAMESPACE_PREFIX, domainName } from './domain-definition.ts';
import { readDomain } from './read-domain.ts';
import { renderDisk } from './render-disk.ts';
import { renderDomain } from './render-domain.ts';
import { renderMetadata } from './render-metadata.ts';
import {
  ARM_KVM,
  emulated,
  gpuServer,
  switchOf,
  VM_ID,
  vmOfType,
  X86_KVM,
} from './testing/gpu-server.ts';

const SCHEMA = '/usr/share/libvirt/schemas/domain.rng';
const GOLDEN = new URL('golden/', import.meta.url).pathname;
const NAME = domainName(VM_ID);
const TAP = 'gtapdomainxml';

let libvirtd: PrivateLibvirtd;
let folder: string;
const virsh = (...args: string[]) =>
  libvirtd.run('virsh', '--quiet', '--connect', 'qemu:///system', ...args);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-domain-xml-'));
  libvirtd = await startPrivateLibvirtd({ network: 'private' });
});
afterAll(async () => {
  await libvirtd?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Removes what a test left, also after a failure. */
afterEach(async () => {
  await virsh('destroy', NAME).catch(() => {});
  await virsh('undefine', NAME, '--nvram').catch(() => {});
});

async function write(name: string, content: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

async function define(xml: string): Promise<string> {
  return virsh('define', '--validate', await write('domain.xml', xml));
}

describe("libvirt's own schema", () => {
  it('accepts every golden domain', async () => {
    const names = await readdir(GOLDEN, { recursive: true });
    const files = names.filter((name) => name.endsWith('.xml')).map((name) => join(GOLDEN, name));
    expect(files).toHaveLength(2 * (CATALOGUE.length + 4));
    await promisify(execFile)('xmllint', ['--noout', '--relaxng', SCHEMA, ...files]);
  });
});

describe.each([X86_KVM, ARM_KVM])('libvirt defines on $arch', (platform) => {
  let hasKvm: boolean;
  beforeAll(async () => {
    const asked = virsh('domcapabilities', '--virttype', 'kvm', '--arch', platform.arch);
    hasKvm = await asked.then(
      () => true,
      () => false,
    );
  });

  it.each(CATALOGUE)('type $name, and returns what was in it', async (type) => {
    const definition = describeDomain(vmOfType(type), gpuServer(platform));
    // Without KVM for this processor the same domain is defined as an emulated one.
    const golden = await readFile(join(GOLDEN, platform.arch, `${type.name}.xml`), 'utf8');
    const twin = renderDomain({ ...definition, platform: emulated(platform) });
    await define(hasKvm ? golden : twin);
    const { hardware, ...defined } = readDomain(await virsh('dumpxml', '--inactive', NAME));
    const { hardware: written, ...facts } = readDomain(golden);
    expect(defined).toEqual(facts);
    expect(hardware?.machineType).toMatch(/^(pc-q35|virt)-\d/);
    expect(hardware?.loader).toBe(written?.loader);
  });
});

it.each([X86_KVM, ARM_KVM])(
  'libvirt keeps the cliques of GPUs below a switch on $arch',
  async (platform) => {
    const vm = vmOfType({ cpuCores: 8, memoryGb: 64, gpuCount: 4, diskCount: 0 });
    const host = gpuServer(emulated(platform), { peersOf: switchOf });
    await define(renderDomain(describeDomain(vm, host)));
    const defined = await virsh('dumpxml', '--inactive', NAME);
    expect(defined.match(/'x-nv-gpudirect-clique' type='unsigned' value='0'/g)).toHaveLength(4);
    expect(defined.match(/'pcie-switch-downstream-port'/g)).toHaveLength(4);
  },
);

describe("a guest's CPU", () => {
  it.each([true, false])('shows virtualization if its type has it: %s', async (nested) => {
    const vm = vmOfType({ cpuCores: 1, memoryGb: 1, gpuCount: 0, diskCount: 0 });
    const host = gpuServer(emulated(X86_KVM), {
      ...{ lockMemory: false, numaNodes: [], seedPath: null, mmio64Mib: 0 },
      nvramPath: join(folder, 'nvram.fd'),
      serialLogPath: join(folder, 'serial.log'),
    });
    const spec = { ...vm, disks: [], interfaces: [], nestedVirtualization: nested };
    await define(renderDomain(describeDomain(spec, host)));
    await virsh('start', '--paused', NAME);
    const ask = async (execute: string, args = {}) => {
      const command = JSON.stringify({ execute, arguments: args });
      return JSON.parse(await virsh('qemu-monitor-command', NAME, command)).return;
    };
    const [cpu] = await ask('query-cpus-fast');
    // QEMU emulates AMD's kind.
    expect(await ask('qom-get', { path: cpu['qom-path'], property: 'svm' })).toBe(nested);
  });
});

describe('a read-only shared directory', () => {
  it('is refused or stays read-only, and never becomes writable', async () => {
    const shared = makeDisk('shared', { kind: 'DISK_KIND_SHARED_VOLUME', readOnly: true });
    const vm = vmOfType({ cpuCores: 2, memoryGb: 1, gpuCount: 0, diskCount: 0 });
    const host = gpuServer(emulated(ARM_KVM));
    const xml = renderDomain(describeDomain({ ...vm, disks: [...vm.disks, shared] }, host));
    const accepted = await define(xml).then(
      async () => readDomain(await virsh('dumpxml', NAME)).filesystems.at(-1)?.readOnly,
      (error: Error) => error.message.includes('read-only'),
    );
    expect(accepted).toBe(true);
  });
});

describe('QEMU', () => {
  it('starts with the buses of the largest type, and accepts disks while it runs', async () => {
    const detection = await detectPlatform();
    if (!detection.found) throw new Error(`missing: ${JSON.stringify(detection.missing)}`);
    const platform = detection.platforms.tcg;
    const { cpu } = platform;
    await libvirtd.run('ip', 'tuntap', 'add', 'dev', TAP, 'mode', 'tap', 'multi_queue');
    await mkdir(join(folder, 'shared'));
    const serialLogPath = join(folder, 'serial.log');
    const host = gpuServer(
      { ...platform, cpu },
      {
        vhostNet: false,
        lockMemory: false,
        numaNodes: [0, 1].map((id) => ({ id, cores: [[0]], hostCpus: '0', hugepages: [] })),
        sourceOf: ({ id, kind }) =>
          kind === 'DISK_KIND_SHARED_VOLUME'
            ? { type: 'directory', path: join(folder, 'shared') }
            : { type: 'file', path: join(folder, `${id}.raw`), format: 'raw', backing: null },
        seedPath: join(folder, 'seed.raw'),
        nvramPath: join(folder, 'nvram.fd'),
        serialLogPath,
        interfaceOf: () => ({ tap: TAP, mtu: 1_450 }),
        // The cards are left out below, and with them what QEMU would be told about them.
        ...{ peersOf: switchOf, hasCliques: false },
        mmio64Mib: 64 * 1_024,
      },
    );
    const largest = vmOfType({ cpuCores: 4, memoryGb: 1, gpuCount: 10, diskCount: 8 });
    const data = makeDisk('data', { blockSize: 4_096, serialNumber: 'data-serial' });
    const sparse = [...largest.disks.map(({ id }) => `${id}.raw`), 'data.raw', 'seed.raw'];
    for (const name of sparse) await truncate(await write(name, ''), 64 * 1_024 * 1_024);

    const definition = describeDomain(largest, host);
    expect(definition.cells).toHaveLength(2);
    // Two guest nodes on one host node, because the host may have only one, and no card. Each has one
    // core with two threads, as with pinned vCPUs.
    const cells = definition.cells.map((cell) => ({ ...cell, hostNode: 0 }));
    await define(withoutHostdevs(renderDomain({ ...definition, cells, threadsPerCore: 2 })));
    await virsh('start', NAME);

    const before = readDomain(await virsh('dumpxml', NAME));
    const described = { ...host, slots: slotsOf(before), iothreads: before.iothreads };
    const [disk] = describeDisks([data], described).disks;
    if (disk === undefined) throw new Error('BUG: no disk was described');
    await virsh('attach-device', NAME, await write('disk.xml', renderDisk(disk)), '--live');
    const after = readDomain(await virsh('dumpxml', NAME));
    expect(after.disks.find(({ id }) => id === 'data')).toMatchObject({
      slot: 3,
      target: 'vdd',
      serial: 'data-serial',
    });

    const metadata = renderMetadata({ ...definition.metadata, generation: '9' });
    const namespace = [DOMAIN_NAMESPACE, '--key', DOMAIN_NAMESPACE_PREFIX];
    await virsh('metadata', NAME, ...namespace, '--set', metadata, '--live', '--config');
    for (const state of [[], ['--inactive']]) {
      const facts = readDomain(await virsh('dumpxml', NAME, ...state));
      expect(facts.metadata).toEqual({ ...definition.metadata, generation: '9' });
    }

    // The firmware found the boot disk behind its port: slot 1, function 3 of the root bus.
    await expect
      .poll(() => readFile(serialLogPath, 'latin1'))
      .toContain('PciRoot(0x0)/Pci(0x1,0x3)/Pci(0x0,0x0)');
  });
});

function withoutHostdevs(xml: string): string {
  return xml.replace(/ *<hostdev[\s\S]*?<\/hostdev>\n/g, '');
}
