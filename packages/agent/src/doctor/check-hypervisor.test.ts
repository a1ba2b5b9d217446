import { afterEach, describe, expect, it } from 'vitest';
import type { KvmProbe } from '../libvirt/platform/kvm-probe.ts';
import {
  checkLibvirt,
  checkProbeVm,
  checkQemu,
  checkVhostNet,
  checkVirtualization,
} from './check-hypervisor.ts';
import { doctorHosts } from './testing/doctor-hosts.ts';

const { make, remove } = doctorHosts();
afterEach(remove);

describe('libvirt', () => {
  it.each([
    ['10.0.0', { severity: 'ok', found: '10.0.0' }],
    ['7.10.0', { severity: 'fail', found: '7.10.0; at least 8.0.0 is needed' }],
    ['', { severity: 'fail', found: 'does not reply at /run/libvirt/libvirt-sock' }],
  ])('that replies with version "%s" is %j', async (version, finding) => {
    const host = await make({ readLibvirtVersion: async () => version });
    expect(await checkLibvirt(host)).toMatchObject([finding]);
  });
});

const FILES = {
  'usr/bin/qemu-system-x86_64': '',
  'usr/share/OVMF/OVMF_CODE_4M.fd': '',
  'usr/share/OVMF/OVMF_VARS_4M.fd': '',
};

describe('the check of KVM', () => {
  type Accelerator = 'auto' | 'kvm' | 'tcg';
  const HANGS: KvmProbe = {
    ...{ result: 'hangs', detail: 'the firmware printed nothing', durationMs: 30_000 },
    remembered: false,
  };
  const check = async (accelerator: Accelerator, allowEmulation: boolean, over = {}) =>
    checkVirtualization(
      await make({
        root: FILES,
        settings: { accelerator: { accelerator, allowEmulation, probeLimitMs: 1 } },
        ...over,
      }),
    );
  const probeKvm = async () => HANGS;

  it('reports what a probe found and how long it took', async () => {
    expect(await check('auto', false)).toMatchObject([
      { severity: 'ok', found: 'KVM works: the firmware printed (probed in 1.2 s)' },
    ]);
  });

  it.each([
    ['auto', false, 'fail'],
    ['auto', true, 'warn'],
    ['kvm', true, 'fail'],
    ['tcg', false, 'warn'],
  ] as const)('with %s and emulation allowed %j gives "%s" if guests hang', async (...row) => {
    const [accelerator, allowEmulation, severity] = row;
    expect(await check(accelerator, allowEmulation, { probeKvm })).toMatchObject([
      { severity, advice: expect.stringContaining('VT-x') },
    ]);
  });

  it('advises by the architecture of the host', async () => {
    const root = {
      'usr/bin/qemu-system-aarch64': '',
      'usr/share/AAVMF/AAVMF_CODE.fd': '',
      'usr/share/AAVMF/AAVMF_VARS.fd': '',
    };
    expect(await check('auto', false, { root, architecture: 'arm64', probeKvm })).toMatchObject([
      { severity: 'fail', advice: expect.stringContaining('EL2') },
    ]);
  });

  it('fails if there is no QEMU to probe with', async () => {
    expect(await check('auto', false, { root: {} })).toMatchObject([
      { severity: 'fail', found: expect.stringContaining('QEMU') },
    ]);
  });
});

describe('QEMU', () => {
  const saying = (version: string, root = {}) =>
    make({ root: { ...FILES, ...root }, run: async () => `QEMU emulator version ${version}` });

  it('is ok with its firmware and virtiofsd', async () => {
    const host = await saying('8.2.2', { 'usr/libexec/virtiofsd': '' });
    const findings = await checkQemu(host);
    expect(findings.map(({ severity, found }) => [severity, found])).toEqual([
      ['ok', '8.2.2'],
      ['ok', '/usr/share/OVMF/OVMF_CODE_4M.fd'],
      ['ok', 'installed'],
    ]);
  });

  it('that is older than 6.2 is a failure, and without virtiofsd there is a warning', async () => {
    expect(await checkQemu(await saying('6.1.0'))).toMatchObject([
      { severity: 'fail' },
      { severity: 'ok' },
      { severity: 'warn', check: 'virtiofsd' },
    ]);
  });

  it('that is missing is named with its package, and so is its firmware', async () => {
    const findings = await checkQemu(await make());
    expect(findings.map(({ found }) => found)).toEqual([
      '/usr/bin/qemu-system-x86_64 is missing (package qemu-system-x86)',
      '/usr/share/OVMF/OVMF_CODE_4M.fd is missing (package ovmf)',
      '/usr/share/OVMF/OVMF_VARS_4M.fd is missing (package ovmf)',
    ]);
  });
});

it('a host without vhost-net gets advice on how to load it', async () => {
  expect(await checkVhostNet(await make({ root: { 'dev/vhost-net': '' } }))).toMatchObject([
    { severity: 'ok' },
  ]);
  expect(await checkVhostNet(await make())).toMatchObject([
    { severity: 'warn', advice: 'modprobe vhost_net' },
  ]);
});

describe('the check that starts a VM', () => {
  const failing = async () => ({ works: false, detail: 'Permission denied', durationMs: 10 });

  it('reports that it started, or the error of libvirt or QEMU', async () => {
    expect(await checkProbeVm(await make({ root: FILES }))).toMatchObject([
      { severity: 'ok', found: 'started from an image; it printed (2.0 s)' },
    ]);
    expect(await checkProbeVm(await make({ root: FILES, startProbeVm: failing }))).toMatchObject([
      { severity: 'fail', found: expect.stringContaining('Permission denied') },
    ]);
  });

  it('starts the VM with the accelerator that VMs of this host get', async () => {
    const platforms: string[] = [];
    const startProbeVm = async ({ accel }: { accel: string }) => {
      platforms.push(accel);
      return { works: true, detail: '', durationMs: 0 };
    };
    for (const accelerator of ['kvm', 'tcg'] as const) {
      const settings = { accelerator: { accelerator, allowEmulation: false, probeLimitMs: 1 } };
      await checkProbeVm(await make({ root: FILES, startProbeVm, settings }));
    }
    expect(platforms).toEqual(['kvm', 'tcg']);
  });

  it.each([
    ['QEMU is missing', {}],
    ['libvirt does not reply', { root: FILES, readLibvirtVersion: async () => '' }],
    [
      'KVM does not work',
      {
        root: FILES,
        probeKvm: async (): Promise<KvmProbe> => ({
          ...{ result: 'hangs', detail: '', durationMs: 1, remembered: false },
        }),
      },
    ],
  ])('is left out if %s, which another check reports', async (_, tree) => {
    expect(await checkProbeVm(await make({ ...tree, startProbeVm: failing }))).toEqual([]);
  });
});
