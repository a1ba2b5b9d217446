import { access, constants, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Platform } from '../domain-xml/domain-definition.ts';

/** What a domain can be made of on this host, or what is missing for it. */
export type Detection =
  | { found: true; platforms: Platforms; vhostNet: boolean; virtiofs: boolean }
  | { found: false; missing: readonly Missing[] };

/** How domains look with each accelerator. `chooseAccelerator` decides which one is used. */
type Platforms = Record<Platform['accel'], Platform>;

/** A file that is not there, and Debian's and Ubuntu's name of the package that brings it. */
export type Missing = { path: string; packageName: string };

type Candidate = {
  arch: Platform['arch'];
  machine: Platform['machine'];
  emulator: Missing;
  loader: Missing;
  nvramTemplate: Missing;
  /** Under emulation. On aarch64 `maximum` signs every pointer, in software: half as fast. */
  emulatedCpu: Platform['cpu'];
};

const CANDIDATES: Partial<Record<NodeJS.Architecture, Candidate>> = {
  x64: {
    arch: 'x86_64',
    machine: 'q35',
    emulator: { path: '/usr/bin/qemu-system-x86_64', packageName: 'qemu-system-x86' },
    loader: { path: '/usr/share/OVMF/OVMF_CODE_4M.fd', packageName: 'ovmf' },
    nvramTemplate: { path: '/usr/share/OVMF/OVMF_VARS_4M.fd', packageName: 'ovmf' },
    emulatedCpu: 'maximum',
  },
  arm64: {
    arch: 'aarch64',
    machine: 'virt',
    emulator: { path: '/usr/bin/qemu-system-aarch64', packageName: 'qemu-system-arm' },
    loader: { path: '/usr/share/AAVMF/AAVMF_CODE.fd', packageName: 'qemu-efi-aarch64' },
    nvramTemplate: { path: '/usr/share/AAVMF/AAVMF_VARS.fd', packageName: 'qemu-efi-aarch64' },
    emulatedCpu: 'cortex-a72',
  },
};

/** Where Debian and Ubuntu put virtiofsd: with QEMU, or in a package of its own. */
const VIRTIOFSD = ['/usr/lib/qemu/virtiofsd', '/usr/libexec/virtiofsd'];

/** `root` and `architecture` are this machine's unless a test says otherwise. */
export async function detectPlatform(
  options: { root?: string; architecture?: NodeJS.Architecture } = {},
): Promise<Detection> {
  const { root = '/', architecture = process.arch } = options;
  const candidate = CANDIDATES[architecture];
  if (candidate === undefined) {
    const packageName = `none for ${architecture}: Gantry runs VMs on x64 and arm64`;
    return { found: false, missing: [{ path: 'a QEMU for this machine', packageName }] };
  }
  const { emulator, loader, nvramTemplate } = candidate;
  const missing: Missing[] = [];
  for (const file of [emulator, loader, nvramTemplate]) {
    if (!(await isReadable(join(root, file.path)))) missing.push(file);
  }
  if (missing.length > 0) return { found: false, missing };

  const readable = await Promise.all(VIRTIOFSD.map((path) => isReadable(join(root, path))));
  const common = {
    arch: candidate.arch,
    machine: candidate.machine,
    machineType: candidate.machine,
    emulator: emulator.path,
    firmware: { loader: loader.path, nvramTemplate: nvramTemplate.path },
  };
  return {
    found: true,
    platforms: {
      kvm: {
        ...common,
        ...{ accel: 'kvm', cpu: 'host-passthrough', gic: 'host' },
        ...((await isAmd(root)) && { threadsFeature: 'topoext' }),
      },
      tcg: { ...common, accel: 'tcg', cpu: candidate.emulatedCpu, gic: '3' },
    },
    vhostNet: await isUsable(join(root, 'dev/vhost-net')),
    virtiofs: readable.includes(true),
  };
}

/** QEMU does not show an AMD guest the threads of its cores unless this feature is requested. */
async function isAmd(root: string): Promise<boolean> {
  const text = await readFile(join(root, 'proc/cpuinfo'), 'utf8').catch(() => '');
  return /^vendor_id\s*:\s*AuthenticAMD$/m.test(text);
}

function isReadable(path: string): Promise<boolean> {
  return can(path, constants.R_OK);
}

function isUsable(path: string): Promise<boolean> {
  return can(path, constants.R_OK | constants.W_OK);
}

async function can(path: string, mode: number): Promise<boolean> {
  try {
    await access(path, mode);
    return true;
  } catch {
    return false;
  }
}
