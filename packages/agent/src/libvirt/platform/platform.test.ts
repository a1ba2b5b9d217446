import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { detectPlatform } from './platform.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'gantry-platform-'));
});
afterEach(() => rm(root, { recursive: true }));

const put = async (...paths: string[]) => {
  for (const path of paths) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), '');
  }
};
const ARM_FILES = [
  'usr/bin/qemu-system-aarch64',
  'usr/share/AAVMF/AAVMF_CODE.fd',
  'usr/share/AAVMF/AAVMF_VARS.fd',
];
const X86_FILES = [
  'usr/bin/qemu-system-x86_64',
  'usr/share/OVMF/OVMF_CODE_4M.fd',
  'usr/share/OVMF/OVMF_VARS_4M.fd',
];

describe('detectPlatform', () => {
  it('names every missing file and the package that contains it', async () => {
    await put('usr/bin/qemu-system-x86_64');
    expect(await detectPlatform({ root, architecture: 'x64' })).toEqual({
      found: false,
      missing: [
        { path: '/usr/share/OVMF/OVMF_CODE_4M.fd', packageName: 'ovmf' },
        { path: '/usr/share/OVMF/OVMF_VARS_4M.fd', packageName: 'ovmf' },
      ],
    });
    expect(await detectPlatform({ root, architecture: 'arm64' })).toMatchObject({
      missing: [
        { packageName: 'qemu-system-arm' },
        { packageName: 'qemu-efi-aarch64' },
        { packageName: 'qemu-efi-aarch64' },
      ],
    });
  });

  it('returns the platform of both accelerators and the other abilities of the host', async () => {
    await put(...X86_FILES);
    expect(await detectPlatform({ root, architecture: 'x64' })).toMatchObject({
      platforms: {
        kvm: { arch: 'x86_64', machine: 'q35', accel: 'kvm', cpu: 'host-passthrough', gic: 'host' },
        tcg: { arch: 'x86_64', machine: 'q35', accel: 'tcg', cpu: 'maximum' },
      },
      vhostNet: false,
      virtiofs: false,
    });
    await put('dev/vhost-net', 'usr/lib/qemu/virtiofsd');
    expect(await detectPlatform({ root, architecture: 'x64' })).toMatchObject({
      vhostNet: true,
      virtiofs: true,
    });
  });

  it('requests the feature with which guests see threads on an AMD processor only', async () => {
    await put(...X86_FILES);
    const featureOf = async (vendor: string) => {
      await writeFile(join(root, 'proc/cpuinfo'), `processor\t: 0\nvendor_id\t: ${vendor}\n`);
      const detection = await detectPlatform({ root, architecture: 'x64' });
      return detection.found ? detection.platforms.kvm.threadsFeature : null;
    };
    await mkdir(join(root, 'proc'), { recursive: true });
    expect(await featureOf('AuthenticAMD')).toBe('topoext');
    expect(await featureOf('GenuineIntel')).toBeUndefined();
  });

  it('is the same for arm64 with its own machine and firmware', async () => {
    await put(...ARM_FILES);
    expect(await detectPlatform({ root, architecture: 'arm64' })).toMatchObject({
      found: true,
      platforms: {
        tcg: {
          arch: 'aarch64',
          machine: 'virt',
          gic: '3',
          firmware: { loader: '/usr/share/AAVMF/AAVMF_CODE.fd' },
        },
      },
    });
  });

  it('returns a reason on an unsupported processor', async () => {
    expect(await detectPlatform({ root, architecture: 's390x' })).toMatchObject({ found: false });
  });
});
