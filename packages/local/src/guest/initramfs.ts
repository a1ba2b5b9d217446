import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Architecture } from './architecture.ts';
import type { CpioEntry } from './cpio.ts';
import { moduleName, orderModules, readDepends, WANTED_MODULES } from './kernel-modules.ts';
import { neededLibraries } from './needed-libraries.ts';
import { runProgram } from './run-program.ts';
import { MERGED } from './unpack.ts';

const PROGRAMS = ['usr/sbin/dropbear', 'usr/sbin/qemu-ga'];
const EMPTY = [
  'dev',
  'proc',
  'sys',
  'run',
  'tmp',
  'mnt',
  'root',
  'persist',
  'seed',
  'var',
  'modules',
];

type Sources = { unpacked: string; rootfs: string; architecture: Architecture };

/** All files of the guest's root file system, which is in memory. */
export async function gatherInitramfs(sources: Sources): Promise<CpioEntry[]> {
  const files = [
    ...(await readPrograms(sources)),
    ...(await readModules(sources.unpacked, WANTED_MODULES)),
    ...(await readScripts(sources.rootfs)),
  ];
  const links = [
    ...MERGED.map((name) => link(name, `usr/${name}`)),
    link('init', 'usr/bin/busybox'),
    link('usr/bin/sh', 'busybox'),
    link('var/run', '../run'),
  ];
  return [...directoriesOf([...files, ...links]), ...files, ...links];
}

function link(name: string, target: string): CpioEntry {
  return { kind: 'link', name, target };
}

function executable(name: string, content: Uint8Array): CpioEntry {
  return { kind: 'file', name, content, executable: true };
}

/** In an archive, a directory comes before its content. */
function directoriesOf(entries: readonly CpioEntry[]): CpioEntry[] {
  const names = new Set([...EMPTY, ...MERGED.map((name) => `usr/${name}`)]);
  for (const { name } of entries) names.add(path.posix.dirname(name));
  const all = [...names].flatMap((name) => {
    const steps = name.split('/');
    return steps.map((_, index) => steps.slice(0, index + 1).join('/'));
  });
  const wanted = new Set(all.filter((name) => name !== '.'));
  return [...wanted].sort().map((name) => ({ kind: 'directory', name }));
}

async function readPrograms({ unpacked, architecture }: Sources): Promise<CpioEntry[]> {
  const libraries = new Map<string, Buffer>();
  const add = async (file: Buffer): Promise<void> => {
    for (const library of neededLibraries(file)) {
      const name = `${architecture.libraries}/${library}`;
      if (libraries.has(name) || library === path.basename(architecture.loader)) continue;
      const content = await readFile(path.join(unpacked, name));
      libraries.set(name, content);
      await add(content);
    }
  };
  const files: CpioEntry[] = [];
  for (const name of ['usr/bin/busybox', ...PROGRAMS]) {
    const content = await readFile(path.join(unpacked, name));
    files.push(executable(name, content));
    await add(content);
  }
  const sorted = [...libraries].sort(([one], [other]) => (one < other ? -1 : 1));
  const loader = await readFile(path.join(unpacked, loaderFile(architecture)));
  return [
    ...files,
    ...sorted.map(([name, content]) => executable(name, content)),
    executable(architecture.loader, loader),
  ];
}

/** The loader is beside the libraries. Its usual path is a link that may leave the folder. */
function loaderFile({ libraries, loader }: Architecture): string {
  return `${libraries}/${path.basename(loader)}`;
}

/** Returns these modules and their dependencies in the order in which they must be loaded. */
export async function readModules(
  unpacked: string,
  wanted: readonly string[],
): Promise<CpioEntry[]> {
  const root = path.join(unpacked, 'usr/lib/modules');
  const paths = (await readdir(root, { recursive: true })).filter((file) =>
    /\.ko(\.|$)/.test(file),
  );
  const paired = new Map(paths.map((file) => [moduleName(file), path.join(root, file)]));
  const contents = new Map<string, Buffer>();
  const modules = new Map<string, { file: string; depends: string[] }>();
  const add = async (name: string): Promise<void> => {
    const place = paired.get(name);
    if (place === undefined || modules.has(name)) return;
    const content = await readCompressed(place);
    const depends = readDepends(content);
    const file = `${name}.ko`;
    contents.set(file, content);
    modules.set(name, { file, depends });
    for (const next of depends) await add(next);
  };
  for (const name of wanted) await add(name);
  const order = orderModules(wanted, modules);
  const files = order.map((file): CpioEntry => {
    return {
      kind: 'file',
      name: `modules/${file}`,
      content: contents.get(file) ?? Buffer.alloc(0),
    };
  });
  return [
    ...files,
    { kind: 'file', name: 'modules/order', content: Buffer.from(`${order.join('\n')}\n`) },
  ];
}

/** Newer Debian and Ubuntu compress modules and kernels; busybox and UEFI cannot read that. */
export async function readCompressed(file: string): Promise<Buffer> {
  if (file.endsWith('.xz')) return runProgram('xz', ['-dc', file]);
  if (file.endsWith('.zst')) return runProgram('zstd', ['-dcq', file]);
  const content = await readFile(file);
  return content[0] === 0x1f && content[1] === 0x8b ? gunzipSync(content) : content;
}

async function readScripts(rootfs: string): Promise<CpioEntry[]> {
  const found = await readdir(rootfs, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile());
  const names = files.map((entry) =>
    path.relative(rootfs, path.join(entry.parentPath, entry.name)),
  );
  return Promise.all(
    names.sort().map(async (name) => executable(name, await readFile(path.join(rootfs, name)))),
  );
}
