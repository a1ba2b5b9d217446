import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readIfThere, writePrivateFile } from '../home.ts';
import { isListed } from '../process-identity.ts';
import { readArchitecture } from './architecture.ts';
import { renderCpio } from './cpio.ts';
import { writeDiskImage } from './disk-image.ts';
import { fetchPackages, listPackages } from './fetch-packages.ts';
import { gatherInitramfs, readCompressed } from './initramfs.ts';
import type { DebianPackage } from './package-list.ts';
import { renderUnifiedKernel } from './unified-kernel.ts';
import { unpackPackages } from './unpack.ts';

/**
 * The tiny guest: Debian's cloud kernel with busybox, dropbear and the QEMU guest agent in memory,
 * and a small file system for what must last. Made from Debian's packages, without root, without
 * installing or mounting anything.
 *
 * What always holds: an image that is there is whole, since it gets its name when it is finished; the
 * same packages and the same source give the same bytes. A build that dies leaves a folder
 * `building-…`, which the next one removes.
 */
export type TinyGuest = { path: string; sha256: string; ms: number };

/** Little on the console, a guest that ends when its kernel fails, nothing it has no use for. */
const KERNEL_FLAGS = ['quiet', 'panic=1', 'audit=0', 'nokaslr', 'cryptomgr.notests'];

const PROGRAM_PACKAGES = ['busybox-static', 'dropbear-bin', 'qemu-guest-agent', 'systemd-boot-efi'];

export async function buildTinyGuest({ directory }: { directory: string }): Promise<TinyGuest> {
  const start = performance.now();
  await mkdir(directory, { recursive: true });
  const architecture = readArchitecture();
  const roots = [`linux-image-cloud-${architecture.debian}`, ...PROGRAM_PACKAGES];
  const packages = await listPackages(roots, path.join(directory, 'packages.json'));
  const key = await recipeKey(packages);
  const image = path.join(directory, `tiny-${architecture.debian}-${key}.raw`);
  const kept = existsSync(image) ? await readIfThere(`${image}.sha256`) : undefined;
  const sha256 = kept?.trim() ?? (await build({ directory, packages, image }));
  return { path: image, sha256, ms: Math.round(performance.now() - start) };
}

type Build = { directory: string; packages: readonly DebianPackage[]; image: string };

async function build({ directory, packages, image }: Build): Promise<string> {
  await removeOld(directory);
  const workspace = await mkdtemp(path.join(directory, `building-${process.pid}-`));
  try {
    const kept = path.join(directory, 'packages');
    const debs = await fetchPackages(packages, { directory: kept, workspace });
    const unpacked = path.join(workspace, 'root');
    await unpackPackages(debs, unpacked);
    const bootProgram = await renderBootProgram(unpacked);
    const { bootFile } = readArchitecture();
    const file = path.join(workspace, 'image');
    const digest = await writeDiskImage({ file, bootFile, bootProgram, target: image });
    await writePrivateFile(`${image}.sha256`, `${digest}\n`);
    return digest;
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
}

async function renderBootProgram(unpacked: string): Promise<Buffer> {
  const architecture = readArchitecture();
  const boot = path.join(unpacked, 'boot');
  const kernel = (await readdir(boot)).find((name) => name.startsWith('vmlinuz-'));
  if (kernel === undefined) throw new Error('The kernel package has no /boot/vmlinuz.');
  const entries = await gatherInitramfs({ unpacked, rootfs: findRootfs(), architecture });
  return renderUnifiedKernel({
    stub: await readFile(path.join(unpacked, 'usr/lib/systemd/boot/efi', architecture.stub)),
    kernel: await readCompressed(path.join(boot, kernel)),
    initramfs: renderCpio(entries),
    commandLine: [`console=${architecture.console}`, ...KERNEL_FLAGS].join(' '),
  });
}

/** What the image is made of: the packages, and the source that puts them together. */
async function recipeKey(packages: readonly DebianPackage[]): Promise<string> {
  const hash = createHash('sha256');
  for (const { file, sha256 } of packages) hash.update(`${file} ${sha256}\n`);
  for (const file of await sourceFiles())
    hash.update(`${path.basename(file)}\n`).update(await readFile(file));
  return hash.digest('hex').slice(0, 16);
}

const self = fileURLToPath(import.meta.url);
/** Bundled, this file's code lives in another file, and the guest's files beside it. */
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

async function filesBelow(folder: string): Promise<string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile());
  return files.map((entry) => path.join(entry.parentPath, entry.name)).sort();
}

/** Someone may still be copying an image that was the newest a moment ago. */
const IN_USE_MS = 3_600_000;

/** Images of earlier versions, and what a build that died has left. */
async function removeOld(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const place = path.join(directory, name);
    const [, builder] = /^building-(\d+)-/.exec(name) ?? [];
    const isAbandoned = builder !== undefined && !isListed(Number(builder));
    const isOld = name.startsWith('tiny-') && Date.now() - (await stat(place)).mtimeMs > IN_USE_MS;
    if (isAbandoned || isOld) await rm(place, { recursive: true, force: true });
  }
}
