import { type Finding, fail, ok, warn } from '../base/finding.ts';
import { chooseAccelerator } from '../libvirt/platform/choose-accelerator.ts';
import { detectPlatform } from '../libvirt/platform/platform.ts';
import { isOlder, parseQemuVersion } from '../libvirt/platform/qemu-version.ts';
import type { Check } from './doctor-host.ts';

/** The oldest supported versions: Ubuntu 22.04 has them. */
const LEAST_LIBVIRT = '8.0.0';
const LEAST_QEMU = '6.2.0';
const INSTALL = 'apt-get install gantry-agent installs it, and so does deploy/prepare-host.sh';

/** Boots a test VM, because a `/dev/kvm` that opens may still run no guest. */
export const checkVirtualization: Check = async ({
  architecture,
  filesRoot,
  settings,
  ...host
}) => {
  const detection = await detectPlatform({ root: filesRoot, architecture });
  if (!detection.found) {
    return [fail('virtualization', 'KVM was not probed: QEMU or its firmware is missing', INSTALL)];
  }
  const { accelerator } = settings;
  const { accel, reason } = await chooseAccelerator(accelerator, () =>
    host.probeKvm(detection.platforms.kvm, accelerator.probeLimitMs),
  );
  if (accel === 'kvm') return [ok('virtualization', reason)];
  if (accel === 'tcg') {
    const found = `${reason}; VMs are emulated, which is too slow for tenants`;
    return [warn('virtualization', found, KVM_ADVICE[architecture] ?? '')];
  }
  const found = `${reason}; the agent does not start, and this host gets no VMs`;
  return [fail('virtualization', found, KVM_ADVICE[architecture] ?? '')];
};

/** Starts a VM from an image through libvirt, because files that exist may still be denied to QEMU. */
export const checkProbeVm: Check = async ({ architecture, filesRoot, settings, ...host }) => {
  const detection = await detectPlatform({ root: filesRoot, architecture });
  // Other checks report what is missing.
  if (!detection.found || (await host.readLibvirtVersion()) === '') return [];
  const { accelerator } = settings;
  const { accel } = await chooseAccelerator(accelerator, () =>
    host.probeKvm(detection.platforms.kvm, accelerator.probeLimitMs),
  );
  if (accel === null) return [];
  const { works, detail, durationMs } = await host.startProbeVm(detection.platforms[accel]);
  const seconds = `${(durationMs / 1_000).toFixed(1)} s`;
  if (works) return [ok('probe VM', `started from an image; ${detail} (${seconds})`)];
  const advice =
    'see that the user of QEMU can pass through GANTRY_DATA_DIRECTORY and every directory above ' +
    'it; journalctl -k shows what AppArmor denied';
  return [fail('probe VM', `a VM made from an image does not start: ${detail}`, advice)];
};

const KVM_ADVICE: Partial<Record<NodeJS.Architecture, string>> = {
  x64: 'turn on VT-x (Intel) or SVM (AMD) in the BIOS and load kvm_intel or kvm_amd',
  arm64: 'have the firmware start the kernel at EL2',
};

export const checkLibvirt: Check = async ({ readLibvirtVersion, settings }) => {
  const version = await readLibvirtVersion();
  if (version === '') {
    const found = `does not reply at ${settings.libvirtSocket}`;
    return [fail('libvirt', found, 'systemctl enable --now libvirtd')];
  }
  return [versionFinding({ check: 'libvirt', version, least: LEAST_LIBVIRT })];
};

/** Checks QEMU and its firmware by the files that the agent itself needs. */
export const checkQemu: Check = async ({ filesRoot, architecture, run }) => {
  const detection = await detectPlatform({ root: filesRoot, architecture });
  if (!detection.found) {
    return detection.missing.map(({ path, packageName }) =>
      fail('QEMU', `${path} is missing (package ${packageName})`, INSTALL),
    );
  }
  const { emulator, firmware } = detection.platforms.kvm;
  const said = await run(emulator, ['--version']).catch(() => '');
  const version = parseQemuVersion(said);
  return [
    version === undefined
      ? fail('QEMU', `${emulator} does not say its version`, INSTALL)
      : versionFinding({ check: 'QEMU', version, least: LEAST_QEMU }),
    ok('firmware', firmware.loader),
    detection.virtiofs
      ? ok('virtiofsd', 'installed')
      : warn('virtiofsd', 'missing: shared volumes cannot be attached', INSTALL),
  ];
};

export const checkVhostNet: Check = async ({ files }) => [
  (await files.exists('dev/vhost-net'))
    ? ok('vhost-net', '/dev/vhost-net is there')
    : warn('vhost-net', 'no /dev/vhost-net: the network of guests is slow', 'modprobe vhost_net'),
];

type Comparison = { check: string; version: string; least: string };

function versionFinding({ check, version, least }: Comparison): Finding {
  if (!isOlder(version, least)) return ok(check, version);
  const advice = 'use a newer release of Debian or Ubuntu';
  return fail(check, `${version}; at least ${least} is needed`, advice);
}
