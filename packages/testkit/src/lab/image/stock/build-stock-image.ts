import { existsSync } from 'node:fs';
import { chmod, copyFile, cp, mkdir, mkdtemp, rename, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { syncDirectory } from '@gantry/daemon/durable-file';
import { readArchitecture } from '@gantry/local/guest/architecture';
import { filesBelow, recipeKey, removeOld } from '@gantry/local/guest/recipe';
import { runProgram } from '@gantry/local/guest/run-program';
import { keepModules } from '../keep-modules.ts';
import { labArchitecture } from '../lab-architecture.ts';
import type { LabImage } from '../lab-image.ts';
import { EMULATOR, WRAPPED, WRAPPER, wrapEmulator } from '../wrap-emulator.ts';
import { writeRoot } from '../write-root.ts';

/** Debian's releases that a stock server can run. The first is the default. */
export const STOCK_RELEASES = ['bookworm', 'trixie'] as const;
export type StockRelease = (typeof STOCK_RELEASES)[number];

const here = fileURLToPath(new URL('.', import.meta.url));
const repository = fileURLToPath(new URL('../../../../../../', import.meta.url));
const directory = path.join(repository, '.gantry/lab-stock');
const PREPARE_HOST = path.join(repository, 'deploy/prepare-host.sh');
const UNITS = ['gantry-agent.service', 'gantry-hugepages.service', 'dev-hugepages1G.mount'].map(
  (name) => path.join(repository, 'deploy/systemd', name),
);
const SERVE = path.join(here, '../rootfs/lab/serve');
const SHARED = ['../keep-modules.ts', '../wrap-emulator.ts', '../write-root.ts'].map((name) =>
  path.join(here, name),
);

/** What a server has before Gantry comes: Debian with RAID and LVM. Node is copied in. */
const SERVER = [
  ...['systemd-sysv', 'systemd-timesyncd', 'dbus', 'udev', 'apparmor', 'initramfs-tools', 'zstd'],
  ...[
    'mdadm',
    'lvm2',
    'busybox',
    'kmod',
    'e2fsprogs',
    'procps',
    'iproute2',
    'conntrack',
    'libstdc++6',
  ],
];

/**
 * Builds a stock server as the level-1 machine: Debian installed by its own tools, with systemd, udev,
 * AppArmor, mdadm in the initramfs and libvirt as a service, made a host by `prepare-host.sh`. The
 * agent is a unit, whose program each run copies in.
 *
 * Invariant: a folder `stock-…` is complete and is never written to again.
 */
export async function buildStockImage(release: StockRelease = 'bookworm'): Promise<LabImage> {
  if (labArchitecture() !== process.arch) {
    const why = 'because scripts of its packages run here';
    throw new Error(`A stock server can only have the architecture of this computer, ${why}.`);
  }
  const { debian } = readArchitecture();
  const sources = [...(await filesBelow(here)), ...SHARED, WRAPPER, PREPARE_HOST, ...UNITS, SERVE];
  const key = await recipeKey([{ file: process.version, sha256: process.execPath }], sources);
  const image = path.join(directory, `stock-${release}-${debian}-${key}`);
  if (!existsSync(image)) await build(release, image);
  return {
    bootLoader: path.join(image, 'grub.efi'),
    root: path.join(image, 'root.ext4'),
    kernelArguments: 'root=/dev/vda',
  };
}

async function build(release: StockRelease, image: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  await removeOld(directory, `stock-${release}-`);
  const workspace = await mkdtemp(path.join(directory, `building-${process.pid}-`));
  try {
    const root = path.join(workspace, 'root');
    await install(release, root);
    await addLab(root);
    if (readArchitecture().debian === 'amd64') await divertEmulator(root);
    const version = await keepModules(root);
    await runProgram('chroot', [root, 'update-initramfs', '-u', '-k', version]);
    const made = path.join(workspace, 'image');
    await mkdir(made);
    await makeBootLoader(root, path.join(made, 'grub.efi'));
    await writeRoot(root, path.join(made, 'root.ext4'));
    await runProgram('sync', ['-f', made]);
    await rename(made, image);
    await syncDirectory(directory);
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
}

/** Installs Debian, and then what a host needs in the way that operators do. */
async function install(release: StockRelease, root: string): Promise<void> {
  const { debian } = readArchitecture();
  const packages = [...SERVER, `linux-image-${debian}`, 'grub-common', `grub-efi-${debian}-bin`];
  await runProgram('mmdebstrap', [
    ...['--quiet', '--variant=minbase', '--mode=root', `--include=${packages.join(',')}`],
    `--customize-hook=copy-in ${PREPARE_HOST} /root`,
    '--customize-hook=chroot "$1" sh /root/prepare-host.sh',
    ...[release, root],
  ]);
}

/** The packages of QEMU and libvirt, and AppArmor's rules, remain those of Debian. */
async function divertEmulator(root: string): Promise<void> {
  const diversion = ['--local', '--no-rename', '--divert', WRAPPED, '--add', EMULATOR];
  await runProgram('chroot', [root, 'dpkg-divert', ...diversion]);
  await wrapEmulator(root);
}

/** The boot loader reads its configuration from the volume on which it is. */
async function makeBootLoader(root: string, file: string): Promise<void> {
  const format = readArchitecture().debian === 'arm64' ? 'arm64-efi' : 'x86_64-efi';
  const modules = [
    'normal',
    'boot',
    'linux',
    'search',
    'search_fs_file',
    'part_msdos',
    'fat',
    'ext2',
  ];
  const made = ['-O', format, '-p', '/EFI/BOOT', '-o', '/root/grub.efi'];
  await runProgram('chroot', [root, 'grub-mkimage', ...made, ...modules]);
  await rename(path.join(root, 'root/grub.efi'), file);
}

/** Adds Node, the agent's units, and the service through which tests run commands. */
async function addLab(root: string): Promise<void> {
  const inRoot = (name: string) => path.join(root, name);
  await cp(path.join(here, 'rootfs'), root, { recursive: true });
  for (const name of ['lab', 'share', 'usr/lib/gantry']) {
    await mkdir(inRoot(name), { recursive: true });
  }
  await copyFile(SERVE, inRoot('lab/serve'));
  await chmod(inRoot('lab/serve'), 0o755);
  await copyFile(process.execPath, inRoot('usr/bin/node'));
  await chmod(inRoot('usr/bin/node'), 0o755);
  await symlink('/usr/bin/node', inRoot('usr/lib/gantry/node'));
  await symlink('/share/agent', inRoot('usr/lib/gantry/agent'));
  for (const unit of UNITS) {
    await copyFile(unit, path.join(root, 'etc/systemd/system', path.basename(unit)));
  }
  await runProgram('chroot', [root, 'systemctl', 'enable', 'lab', 'systemd-networkd']);
}
