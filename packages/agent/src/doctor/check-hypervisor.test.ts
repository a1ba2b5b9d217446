import { afterEach, describe, expect, it } from 'vitest';
import { checkLibvirt, checkQemu, checkVhostNet } from './check-hypervisor.ts';
import { doctorHosts } from './testing/doctor-hosts.ts';

const { make, remove } = doctorHosts();
afterEach(remove);

describe('libvirt', () => {
  it.each([
    ['10.0.0', { severity: 'ok', found: '10.0.0' }],
    ['7.10.0', { severity: 'fail', found: '7.10.0; at least 8.0.0 is needed' }],
    ['', { severity: 'fail', found: 'does not answer at /run/libvirt/libvirt-sock' }],
  ])('that answers "%s" is %j', async (version, finding) => {
    const host = await make({ readLibvirtVersion: async () => version });
    expect(await checkLibvirt(host)).toMatchObject([finding]);
  });
});

describe('QEMU', () => {
  const FILES = {
    'usr/bin/qemu-system-x86_64': '',
    'usr/share/OVMF/OVMF_CODE_4M.fd': '',
    'usr/share/OVMF/OVMF_VARS_4M.fd': '',
  };
  const saying = (version: string, root = {}) =>
    make({ root: { ...FILES, ...root }, run: async () => `QEMU emulator version ${version}` });

  it('is well with its firmware and virtiofsd', async () => {
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

it('a host without vhost-net is told how to load it', async () => {
  expect(await checkVhostNet(await make({ root: { 'dev/vhost-net': '' } }))).toMatchObject([
    { severity: 'ok' },
  ]);
  expect(await checkVhostNet(await make())).toMatchObject([
    { severity: 'warn', advice: 'modprobe vhost_net' },
  ]);
});
