import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import {
  type AcceleratorSettings,
  chooseAccelerator,
  NO_ACCELERATOR_ADVICE,
} from '@gantry/agent/libvirt/choose-accelerator';
import { probeKvm } from '@gantry/agent/libvirt/kvm-probe';
import { detectPlatform } from '@gantry/agent/libvirt/platform';
import { StartError } from '../base/start-error.ts';
import type { Findings, LibvirtFinding, MissingFile } from './describe-problems.ts';

export const LIBVIRT_SOCKET = '/run/libvirt/libvirt-sock';

/** Programs and their packages; where releases put a program differs by directory only. */
const FOR_HOST: readonly MissingFile[] = [
  { path: '/usr/bin/virsh', packageName: 'libvirt-clients' },
  { path: '/usr/bin/qemu-img', packageName: 'qemu-utils' },
  { path: '/usr/sbin/nft', packageName: 'nftables' },
  { path: '/usr/sbin/ip', packageName: 'iproute2' },
];
const DAEMONS: readonly MissingFile[] = [
  { path: '/usr/sbin/libvirtd', packageName: 'libvirt-daemon-system' },
  { path: '/usr/sbin/virtlogd', packageName: 'libvirt-daemon-system' },
];
const FOR_TRYING: readonly MissingFile[] = [
  { path: '/usr/bin/apt-get', packageName: 'apt' },
  { path: '/usr/bin/dpkg-deb', packageName: 'dpkg' },
  { path: '/usr/sbin/mke2fs', packageName: 'e2fsprogs' },
  { path: '/usr/bin/xz', packageName: 'xz-utils' },
  { path: '/usr/bin/curl', packageName: 'curl' },
  { path: '/usr/bin/ssh', packageName: 'openssh-client' },
];
const DIRECTORIES = ['/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** Examines this machine. `socketPath` is the libvirt to use; undefined: the default one. */
export async function lookAtMachine(socketPath: string | undefined): Promise<Findings> {
  const detection = await detectPlatform();
  const isRunning = await isReplying(socketPath ?? LIBVIRT_SOCKET);
  return {
    platform: process.platform,
    isRoot: process.getuid?.() === 0,
    missingForHost: [
      ...(detection.found ? [] : detection.missing),
      ...(isRunning ? [] : DAEMONS.filter(isMissing)),
      ...FOR_HOST.filter(isMissing),
    ],
    missingForTrying: FOR_TRYING.filter(isMissing),
    libvirt: isRunning ? { state: 'running' } : judgeSilence(socketPath),
  };
}

/**
 * Returns which accelerator the agent will use, and why. The agent finds the result of the probe in
 * its data directory and does not probe again.
 */
export async function describeAccelerator(
  settings: AcceleratorSettings,
  dataDirectory: string,
): Promise<string> {
  const detection = await detectPlatform();
  if (!detection.found) throw new Error('BUG: QEMU was found before');
  const { accel, reason } = await chooseAccelerator(settings, () =>
    probeKvm({
      platform: detection.platforms.kvm,
      directory: dataDirectory,
      limitMs: settings.probeLimitMs,
    }),
  );
  switch (accel) {
    case 'kvm':
      return `VMs run with KVM. ${reason}.`;
    case 'tcg':
      return `VMs are emulated, which is slow. ${reason}.`;
    case null:
      throw new StartError(
        `This machine cannot run VMs. ${reason}.\nTo fix it, ${NO_ACCELERATOR_ADVICE}.`,
      );
  }
}

function isMissing({ path }: MissingFile): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return !DIRECTORIES.some((directory) => existsSync(`${directory}/${name}`));
}

function judgeSilence(asked: string | undefined): LibvirtFinding {
  if (asked !== undefined) {
    const advice = 'GANTRY_LIBVIRT_SOCKET names it; unset, that of the system is used.';
    return { state: 'silent', socketPath: asked, advice };
  }
  if (!existsSync('/run/systemd/system')) return { state: 'startable' };
  const advice = 'Start it: systemctl enable --now libvirtd';
  return { state: 'silent', socketPath: LIBVIRT_SOCKET, advice };
}

export function isReplying(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
