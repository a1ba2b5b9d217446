import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Apt, askAptFor } from '@gantry/local/guest/fetch-packages';

/** Packages of one architecture. */
const BY_ARCHITECTURE = {
  arm64: ['linux-image-arm64', 'qemu-system-arm', 'qemu-efi-aarch64'],
  amd64: ['linux-image-amd64', 'qemu-system-x86', 'ovmf'],
};

const EVERYWHERE = [
  ...['libvirt-daemon-system', 'libvirt-clients', 'qemu-utils', 'libstdc++6', 'libc-bin'],
  ...['nvme-cli', 'pciutils', 'pci.ids', 'mdadm', 'lvm2', 'thin-provisioning-tools'],
  ...['nftables', 'iproute2', 'conntrack', 'kmod', 'udev', 'procps', 'util-linux', 'mount'],
  ...['bash', 'coreutils', 'findutils', 'grep', 'sed', 'mawk', 'e2fsprogs', 'busybox-static'],
  'quota',
];

/** If a release has no package of this name, QEMU's own package contains the program. */
const IF_AVAILABLE = ['virtiofsd'];

/** Only maintainer scripts, a desktop or an init system need these, and none of them runs here. */
const LEFT_OUT = [
  /^perl/,
  /^libperl/,
  /-perl$/,
  /^(debconf|dpkg|adduser|passwd|usrmerge|sensible-utils|lsb-base|logsave|logrotate|cpio|tar)$/,
  /^(initramfs-tools|klibc|libklibc|linux-base)/,
  /^(iso-codes|gettext-base|sgml-base|xml-core|readline-common|polkitd)$/,
  /^(dbus|dbus-.*|systemd|systemd-sysv|systemd-container|libpam-.*|gcc-\d+-base)$/,
];

export type DebianArchitecture = keyof typeof BY_ARCHITECTURE;

export async function labRoots(architecture: DebianArchitecture, apt: Apt): Promise<string[]> {
  const available: string[] = [];
  for (const name of IF_AVAILABLE) {
    const isAvailable = await askAptFor('apt-cache', ['show', name], apt).then(
      Boolean,
      () => false,
    );
    if (isAvailable) available.push(name);
  }
  return [...BY_ARCHITECTURE[architecture], ...EVERYWHERE, ...available];
}

/** Returns what apt would install on a machine without packages, each as name=version. */
export async function chooseForEmptyMachine(roots: readonly string[], apt: Apt): Promise<string[]> {
  const directory = await mkdtemp(path.join(tmpdir(), 'gantry-apt-'));
  try {
    const status = path.join(directory, 'status');
    await writeFile(status, '');
    const settings = [`Dir::State::status=${status}`, 'APT::Install-Recommends=false'];
    const flags = settings.flatMap((setting) => ['-o', setting]);
    const plan = ['--simulate', ...flags, 'install', ...roots];
    return parseInstalls(await askAptFor('apt-get', plan, apt));
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** Parses the lines "Inst name (version …" of apt's plan. */
export function parseInstalls(text: string): string[] {
  const lines = [...text.matchAll(/^Inst (\S+) .*?\((\S+) /gm)];
  return lines.flatMap(([, name = '', version = '']) =>
    LEFT_OUT.some((pattern) => pattern.test(name)) ? [] : [`${name}=${version}`],
  );
}
