import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Sysfs } from '../../base/sysfs.ts';
import { type SysfsTree, writeSysfsTree } from '../../base/sysfs-tree.ts';
import { DEFAULT_CAPACITY } from '../../capacity/capacity-settings.ts';
import { createKinds } from '../../devices/kinds/kinds.ts';
import { readDevices } from '../../devices/read-devices.ts';
import { readNumaNodes } from '../../inventory/numa-nodes.ts';
import type { KvmProbe } from '../../libvirt/platform/kvm-probe.ts';
import type { DoctorHost, DoctorSettings } from '../doctor-host.ts';

type HostTree = Partial<Omit<DoctorHost, 'settings'>> & {
  sys?: SysfsTree;
  root?: SysfsTree;
  settings?: Partial<DoctorSettings>;
};

const KINDS = createKinds({ gpu: { vendorIds: ['10de', '1002'] } });

const SETTINGS: DoctorSettings = {
  capacity: DEFAULT_CAPACITY,
  standIns: false,
  accelerator: { accelerator: 'auto', allowEmulation: false, probeLimitMs: 30_000 },
  uplink: 'ens1',
  storageAddress: undefined,
  enforcesBandwidth: false,
  dataDirectory: '/var/lib/gantry-data',
  sharedDirectory: '/var/lib/gantry-data/shared',
  stateDirectory: '/var/lib/gantry',
  libvirtSocket: '/run/libvirt/libvirt-sock',
  schedulers: ['fleet.example.com:7443'],
};

const KVM_WORKS: KvmProbe = {
  ...{ result: 'works', detail: 'the firmware printed', durationMs: 1_200, remembered: false },
};

/** Hosts made of directories, with programs and peers that reply as on a healthy host. */
export function doctorHosts() {
  const directories: string[] = [];

  async function make(tree: HostTree = {}): Promise<DoctorHost> {
    const { sys = {}, root = {}, settings, ...others } = tree;
    const directory = await mkdtemp(join(tmpdir(), 'doctor-'));
    directories.push(directory);
    await writeSysfsTree(join(directory, 'sys'), sys);
    await writeSysfsTree(directory, { 'proc/self/mountinfo': '', ...root });
    const sysfs = new Sysfs(join(directory, 'sys'));
    const devices = await readDevices({
      sysfsRoot: join(directory, 'sys'),
      procRoot: join(directory, 'proc'),
      kinds: KINDS,
      warn: () => undefined,
    });
    return {
      ...{ architecture: 'x64', kernel: '6.8.0-48-generic', userId: 0 },
      ...{ files: new Sysfs(directory), filesRoot: directory, sysfs },
      ...{ kinds: KINDS, devices },
      numaNodes: await readNumaNodes(sysfs),
      settings: { ...SETTINGS, ...settings },
      run: async () => '',
      probeKvm: async () => KVM_WORKS,
      startProbeVm: async () => ({ works: true, detail: 'it printed', durationMs: 2_000 }),
      readLibvirtVersion: async () => '10.0.0',
      readSpace: async () => ({ freeBytes: 900 * 2 ** 30, totalBytes: 1_000 * 2 ** 30 }),
      readQuotaMount: async () => null,
      listUnlimited: async () => [],
      connect: async () => null,
      readAddresses: () => ['192.0.2.10'],
      readNameServers: async () => ['192.0.2.53'],
      askNameServer: async () => null,
      readCertificateEnd: async () => new Date('2027-01-01'),
      nowMs: () => Date.parse('2026-11-15'),
      ...others,
    };
  }

  const remove = async () => {
    for (const directory of directories.splice(0)) await rm(directory, { recursive: true });
  };
  return { make, remove };
}
