import { expect, test } from 'vitest';
import { describeProblems, type Findings } from './describe-problems.ts';

const ready: Findings = {
  platform: 'linux',
  isRoot: true,
  missingForHost: [],
  missingForTrying: [],
  libvirt: { state: 'running' },
};

test.each(['running', 'startable'] as const)(
  'a machine that has everything can be a host if libvirt %s',
  (state) => {
    expect(describeProblems({ ...ready, libvirt: { state } })).toBeUndefined();
  },
);

test('the message names every missing file, its package and the command that installs it', () => {
  const said = describeProblems({
    ...ready,
    missingForHost: [
      { path: '/usr/sbin/nft', packageName: 'nftables' },
      { path: '/usr/share/OVMF/OVMF_CODE_4M.fd', packageName: 'ovmf' },
    ],
    missingForTrying: [
      { path: '/usr/bin/xz', packageName: 'xz-utils' },
      { path: '/usr/sbin/mke2fs', packageName: 'e2fsprogs' },
    ],
  });
  expect(said).toBe(`Missing on this machine:
  /usr/sbin/nft                    (package nftables)
  /usr/share/OVMF/OVMF_CODE_4M.fd  (package ovmf)
  /usr/bin/xz                      (package xz-utils)
  /usr/sbin/mke2fs                 (package e2fsprogs)

On Debian, run this as root to install it:
  deploy/prepare-host.sh
  apt-get install -y --no-install-recommends xz-utils e2fsprogs`);
});

test('the message leaves out commands that would install nothing', () => {
  const xz = { path: '/usr/bin/xz', packageName: 'xz-utils' };
  const said = describeProblems({ ...ready, missingForTrying: [xz] });
  expect(said).not.toContain('prepare-host');
  expect(said).toContain('apt-get install -y --no-install-recommends xz-utils');
});

test('a user who is not root sees that together with what is missing', () => {
  const nft = { path: '/usr/sbin/nft', packageName: 'nftables' };
  const said = describeProblems({ ...ready, isRoot: false, missingForHost: [nft] });
  expect(said).toContain('need root');
  expect(said).toContain('(package nftables)');
});

test('a libvirt that does not reply is reported only if it is installed', () => {
  const libvirt = { state: 'silent', socketPath: '/run/sock', advice: 'Start it: now' } as const;
  expect(describeProblems({ ...ready, libvirt })).toBe(
    'libvirt does not reply at /run/sock. Start it: now',
  );
  const virsh = { path: '/usr/bin/virsh', packageName: 'libvirt-clients' };
  expect(describeProblems({ ...ready, libvirt, missingForHost: [virsh] })).not.toContain(
    '/run/sock',
  );
});

test('on another system than Linux, the message names only that', () => {
  const said = describeProblems({ ...ready, platform: 'darwin', isRoot: false });
  expect(said).toContain('need Linux');
  expect(said).not.toContain('root');
});
