import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readIfThere, writePrivateFile } from '../home/home.ts';
import { type Architecture, readArchitecture } from './architecture.ts';
import { renderCpio } from './cpio.ts';
import { writeDiskImage } from './disk-image.ts';
import { type Apt, fetchPackages, listPackages, OWN_APT } from './fetch-packages.ts';
import { gatherInitramfs, readCompressed } from './initramfs.ts';
import type { DebianPackage } from './package-list.ts';
import { filesBelow, recipeKey, removeOld } from './recipe.ts';
import { renderUnifiedKernel } from './unified-kernel.ts';
import { unpackPackages } from './unpack.ts';

/**
 * The tiny guest: Debian's cloud kernel with busybox, dropbear and the QEMU guest agent in memory,
 * and a small file system for persistent data. It is built from Debian packages, without root and
 * without installing or mounting anything.
 *
 * An image that exists is complete, because it gets its name at the end of the build. The build is
 * reproducible: the same packages and the same source give the same bytes. A build that dies leaves
 * a folder `building-…`, which the next build removes.
 */
export type TinyGuest = { path: string; sha256: string; ms: number };

/** A quiet console, a guest that powers off if its kernel panics, and no unneeded features. */
const KERNEL_FLAGS = ['quiet', 'panic=1', 'audit=0', 'nokaslr', 'cryptomgr.notests'];

const PROGRAM_PACKAGES = ['busybox-static', 'dropbear-bin', 'qemu-guest-agent', 'systemd-boot-efi'];

/** For which architecture the guest is built, and from which packages. Absent: this machine's. */
type Target = { architecture?: Architecture; apt?: Apt };

export async function buildTinyGuest({
  directory,
  architecture = readArchitecture(),
  apt = OWN_APT,
}: Target & { directory: string }): Promise<TinyGuest> {
  const start = performance.now();
  await mkdir(directory, { recursive: true });
  const roots = [`linux-image-cloud-${architecture.debian}`, ...PROGRAM_PACKAGES];
  const packages = await listPackages(roots, path.join(directory, 'packages.json'), { apt });
  const key = await recipeKey(packages, await sourceFiles());
  const image = path.join(directory, `tiny-${architecture.debian}-${key}.raw`);
  const kept = existsSync(image) ? await readIfThere(`${image}.sha256`) : undefined;
  const sha256 = kept?.trim() ?? (await build({ directory, packages, image, architecture, apt }));
  return { path: image, sha256, ms: Math.round(performance.now() - start) };
}

type Build = Required<Target> & {
  directory: string;
  packages: readonly DebianPackage[];
  image: string;
};

async function build({ directory, packages, image, architecture, apt }: Build): Promise<string> {
  await removeOld(directory, 'tiny-');
  const workspace = await mkdtemp(path.join(directory, `building-${process.pid}-`));
  try {
    const kept = path.join(directory, 'packages');
    const debs = await fetchPackages(packages, { directory: kept, workspace, apt });
    const unpacked = path.join(workspace, 'root');
    await unpackPackages(debs, unpacked);
    const bootProgram = await renderBootProgram(unpacked, architecture);
    const { bootFile } = architecture;
    const file = path.join(workspace, 'image');
    const digest = await writeDiskImage({ file, bootFile, bootProgram, target: image });
    await writePrivateFile(`${image}.sha256`, `${digest}\n`);
    return digest;
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
}

async function renderBootProgram(unpacked: string, architecture: Architecture): Promise<Buffer> {
  const boot = path.join(unpacked, 'boot');
  const kernel = (await readdir(boot)).find((name) => name.startsWith('vmlinuz-'));
  if (kernel === undefined) throw new Error('The kernel package contains no /boot/vmlinuz.');
  const entries = await gatherInitramfs({ unpacked, rootfs: findRootfs(), architecture });
  return renderUnifiedKernel({
    stub: await readFile(path.join(unpacked, 'usr/lib/systemd/boot/efi', architecture.stub)),
    kernel: await readCompressed(path.join(boot, kernel)),
    initramfs: renderCpio(entries),
    commandLine: [`console=${architecture.console}`, ...KERNEL_FLAGS].join(' '),
  });
}

const self = fileURLToPath(import.meta.url);
/** In the bundle, this code is in another file, and the guest's files are beside that file. */
const isBundle = path.basename(self) !== 'build-tiny-guest.ts';

function findRootfs(): string {
  return path.join(path.dirname(self), isBundle ? 'guest-rootfs' : 'rootfs');
}

async function sourceFiles(): Promise<string[]> {
  const code = isBundle ? [self] : await filesBelow(path.dirname(self));
  return [...code, ...(await filesBelow(findRootfs()))].filter(
    (file) => !file.endsWith('.test.ts'),
  );
}
