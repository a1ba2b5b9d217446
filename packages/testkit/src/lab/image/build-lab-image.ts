import { existsSync } from 'node:fs';
import {
  chmod,
  copyFile,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { syncDirectory } from '@gantry/daemon/durable-file';
import { fetchPackages, listPackages } from '@gantry/local/guest/fetch-packages';
import type { DebianPackage } from '@gantry/local/guest/package-list';
import { filesBelow, recipeKey, removeOld } from '@gantry/local/guest/recipe';
import { runProgram } from '@gantry/local/guest/run-program';
import { renderEarlyUserspace, renderGuest } from './early-userspace.ts';
import { GUEST_PATTERN, guestLook } from './guest-look.ts';
import { keepModules } from './keep-modules.ts';
import type { LabImage } from './lab-image.ts';
import { chooseForEmptyMachine, labRoots } from './lab-packages.ts';
import { type LabTarget, readTarget } from './target.ts';
import { unpackRoot } from './unpack-root.ts';
import { wrapEmulator } from './wrap-emulator.ts';
import { writeRoot } from './write-root.ts';

const directories = fileURLToPath(new URL('../../../../../.gantry/lab', import.meta.url));
const here = fileURLToPath(new URL('.', import.meta.url));

/**
 * Builds the level-1 machine: Debian's kernel with libvirt, QEMU and Node, as a kernel, an initramfs
 * and a root file system. The code under test is not part of it; each run copies that in.
 *
 * Invariant: a folder `lab-…` is complete, because it gets its name when it is finished, and is never
 * written to again. A build that dies leaves a folder `building-…`, which the next build removes.
 */
export async function buildLabImage(): Promise<LabImage> {
  const target = await readTarget();
  const { architecture, apt, node } = target;
  const { debian } = architecture;
  const directory = path.join(directories, debian);
  await mkdir(directory, { recursive: true });
  const packages = await listPackages(
    await labRoots(debian, apt),
    path.join(directory, 'packages.json'),
    { choose: chooseForEmptyMachine, apt },
  );
  const inputs = [...packages, { file: node.version, sha256: node.path }];
  const image = path.join(directory, `lab-${await recipeKey(inputs, await sourceFiles())}`);
  if (!existsSync(image)) await build(packages, { directory, image, target });
  return {
    kernel: path.join(image, 'kernel'),
    initramfs: path.join(image, 'initramfs'),
    root: path.join(image, 'root.ext4'),
    kernelArguments: '',
  };
}

async function sourceFiles(): Promise<string[]> {
  const isOwn = (file: string) => !file.endsWith('.test.ts') && !file.includes('/image/stock/');
  return (await filesBelow(here)).filter(isOwn);
}

type Build = { directory: string; image: string; target: LabTarget };

async function build(
  packages: readonly DebianPackage[],
  { directory, image, target }: Build,
): Promise<void> {
  await removeOld(directory, 'lab-');
  const workspace = await mkdtemp(path.join(directory, `building-${process.pid}-`));
  try {
    const kept = path.join(directory, 'packages');
    const debs = await fetchPackages(packages, { directory: kept, workspace, apt: target.apt });
    const root = path.join(workspace, 'root');
    await unpackRoot(debs, root);
    const version = await keepModules(root);
    await finishRoot(root, target.node.path);
    if (target.architecture.debian === 'amd64') await wrapEmulator(root);
    const made = path.join(workspace, 'image');
    await mkdir(made);
    await copyFile(path.join(root, `boot/vmlinuz-${version}`), path.join(made, 'kernel'));
    await writeFile(path.join(made, 'initramfs'), await renderEarlyUserspace(root));
    await copyFile(path.join(made, 'kernel'), path.join(root, 'lab/guest-kernel'));
    const look = { modules: ['nvme'], script: guestLook({ pattern: GUEST_PATTERN }) };
    await writeFile(path.join(root, 'lab/guest-initramfs'), await renderGuest(root, look));
    await writeRoot(root, path.join(made, 'root.ext4'));
    await runProgram('sync', ['-f', made]);
    await rename(made, image);
    await syncDirectory(directory);
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
}

/** Adds what maintainer scripts would have made, Node, and the lab's own files. */
async function finishRoot(root: string, node: string): Promise<void> {
  const inRoot = (name: string) => path.join(root, name);
  await cp(path.join(here, 'rootfs'), root, { recursive: true });
  for (const name of await readdir(inRoot('lab'))) await chmod(inRoot(`lab/${name}`), 0o755);
  for (const name of ['proc', 'sys', 'dev', 'run', 'tmp', 'root', 'share', 'mnt']) {
    await mkdir(inRoot(name), { recursive: true });
  }
  await rm(inRoot('var/run'), { recursive: true, force: true });
  await symlink('/run', inRoot('var/run'));
  await mkdir(inRoot('var/lib/libvirt/qemu'), { recursive: true });
  if (!existsSync(inRoot('usr/bin/sh'))) await symlink('bash', inRoot('usr/bin/sh'));
  if (!existsSync(inRoot('usr/bin/awk'))) await symlink('mawk', inRoot('usr/bin/awk'));
  await writeFile(inRoot('etc/machine-id'), `${'1ab'.padEnd(32, '0')}\n`);
  await copyFile(node, inRoot('usr/bin/node'));
  await chmod(inRoot('usr/bin/node'), 0o755);
  await runProgram('ldconfig', ['-r', root]);
}
