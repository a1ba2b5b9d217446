import { expect, test } from 'vitest';
import { describeProblems, type Findings } from './describe-problems.ts';

const ready: Findings = {
  platform: 'linux',
  isRoot: true,
  missingForHost: [],
  missingForTrying: [],
  libvirt: { state: 'answers' },
};

test.each(['answers', 'startable'] as const)(
  'a machine that has everything is a host, where libvirt is %s',
  (state) => {
    expect(describeProblems({ ...ready, libvirt: { state } })).toBeUndefined();
  },
);

test('every missing file is named with its package, and each kind with the command that brings it', () => {
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

On Debian this installs it, as root:
  deploy/prepare-host.sh
  apt-get install -y --no-install-recommends xz-utils e2fsprogs`);
});

test('nobody is sent to install what they have', () => {
  const xz = { path: '/usr/bin/xz', packageName: 'xz-utils' };
  const said = describeProblems({ ...ready, missingForTrying: [xz] });
  expect(said).not.toContain('prepare-host');
  expect(said).toContain('apt-get install -y --no-install-recommends xz-utils');
});

test('who is not root learns that together with what is missing', () => {
  const nft = { path: '/usr/sbin/nft', packageName: 'nftables' };
  const said = describeProblems({ ...ready, isRoot: false, missingForHost: [nft] });
  expect(said).toContain('need root');
  expect(said).toContain('(package nftables)');
});

test('a silent libvirt is named with what to do, once it is installed', () => {
  const libvirt = { state: 'silent', socketPath: '/run/sock', advice: 'Start it: now' } as const;
  expect(describeProblems({ ...ready, libvirt })).toBe(
    'No libvirt answers at /run/sock. Start it: now',
  );
  const virsh = { path: '/usr/bin/virsh', packageName: 'libvirt-clients' };
  expect(describeProblems({ ...ready, libvirt, missingForHost: [virsh] })).not.toContain(
    '/run/sock',
  );
});

test('elsewhere than on Linux that alone is said', () => {
  const said = describeProblems({ ...ready, platform: 'darwin', isRoot: false });
  expect(said).toContain('need Linux');
  expect(said).not.toContain('root');
});
