import { mkdir, stat, symlink } from 'node:fs/promises';
import path from 'node:path';
import { runProgram } from '@gantry/local/guest/run-program';
import { MERGED } from '@gantry/local/guest/unpack';

/**
 * The lab needs none of these. libvirt probes every QEMU that it finds, which takes long under
 * emulation, so the 32-bit emulators, which come with the 64-bit ones, are left out too.
 */
const LEFT_OUT = [
  ...['doc', 'man', 'info', 'locale', 'bug', 'lintian', 'bash-completion', 'zsh', 'icons'].map(
    (name) => `./usr/share/${name}`,
  ),
  ...['./boot/System.map*', './usr/lib/debug'],
  ...['./usr/bin/qemu-system-arm', './usr/bin/qemu-system-i386', './usr/libexec/qemu-system-i386'],
];

/** Unpacking is CPU-bound decompression: two packages at a time, the largest first. */
const WORKERS = 2;

/** Unpacks packages into one root, without running their scripts. */
export async function unpackRoot(debs: readonly string[], root: string): Promise<void> {
  for (const name of MERGED) {
    await mkdir(path.join(root, 'usr', name), { recursive: true });
    await symlink(`usr/${name}`, path.join(root, name));
  }
  const sized = await Promise.all(debs.map(async (file) => ({ file, ...(await sizeOf(file)) })));
  const queue = sized.sort((a, b) => b.size - a.size);
  const work = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) await unpackOne(next.file, root);
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
}

async function sizeOf(file: string): Promise<{ size: number }> {
  return { size: (await stat(file)).size };
}

/** With pipefail both programs must succeed. */
const PIPE = 'dpkg-deb --fsys-tarfile "$0" | tar "$@"';

async function unpackOne(file: string, root: string): Promise<void> {
  const excludes = LEFT_OUT.map((place) => `--exclude=${place}`);
  const args = ['-x', '-C', root, '--keep-directory-symlink', '--no-same-owner', ...excludes];
  await runProgram('bash', ['-o', 'pipefail', '-c', PIPE, file, ...args]);
}
