import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Architecture } from './architecture.ts';
import type { CpioEntry } from './cpio.ts';
import { moduleName, orderModules, readDepends, WANTED_MODULES } from './kernel-modules.ts';
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
  const libraries = new Set<string>();
  for (const program of PROGRAMS) {
    for (const file of await listLibraries(program, unpacked, architecture)) libraries.add(file);
  }
  const names = ['usr/bin/busybox', ...PROGRAMS, ...[...libraries].sort()];
  const files = await Promise.all(
    names.map(async (name) => executable(name, await readFile(path.join(unpacked, name)))),
  );
  const loader = await readFile(path.join(unpacked, loaderFile(architecture)));
  return [...files, executable(architecture.loader, loader)];
}

/** The loader is beside the libraries. Its usual path is a link that may leave the folder. */
function loaderFile({ libraries, loader }: Architecture): string {
  return `${libraries}/${path.basename(loader)}`;
}

/** The unpacked loader lists what it would load, from the unpacked libraries only. */
async function listLibraries(
  program: string,
  unpacked: string,
  architecture: Architecture,
): Promise<string[]> {
  const search = path.join(unpacked, architecture.libraries);
  const loader = path.join(unpacked, loaderFile(architecture));
  const args = ['--inhibit-cache', '--library-path', search, '--list'];
  const text = (await runProgram(loader, [...args, path.join(unpacked, program)])).toString();
  const found = [...text.matchAll(/ => (\S+) \(/g)].map(([, file = '']) => file);
  const missing = found.filter((file) => !file.startsWith(unpacked) && !file.includes('/ld-linux'));
  if (text.includes('not found') || missing.length > 0) {
    throw new Error(`The packages lack a library that ${program} needs:\n${text}`);
  }
  return found
    .filter((file) => file.startsWith(search) && path.basename(file) !== path.basename(loader))
    .map((file) => path.relative(unpacked, file));
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
