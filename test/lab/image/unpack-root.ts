import { mkdir, stat, symlink } from 'node:fs/promises';
import path from 'node:path';
import { runProgram } from '@gantry/local/guest/run-program';
import { MERGED } from '@gantry/local/guest/unpack';

/** Nobody reads or runs these in the lab; one QEMU less is one less that libvirt looks into. */
const LEFT_OUT = [
  ...['doc', 'man', 'info', 'locale', 'bug', 'lintian', 'bash-completion', 'zsh', 'icons'].map(
    (name) => `./usr/share/${name}`,
  ),
  ...['./boot/System.map*', './usr/bin/qemu-system-arm', './usr/lib/debug'],
];

/** Two at a time, the largest first: unpacking is decompression. */
const WORKERS = 2;

/** Unpacks packages over each other, without their scripts. */
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

/** Both ends of the pipe must succeed. */
const PIPE = 'dpkg-deb --fsys-tarfile "$0" | tar "$@"';

async function unpackOne(file: string, root: string): Promise<void> {
  const excludes = LEFT_OUT.map((place) => `--exclude=${place}`);
  const args = ['-x', '-C', root, '--keep-directory-symlink', '--no-same-owner', ...excludes];
  await runProgram('bash', ['-o', 'pipefail', '-c', PIPE, file, ...args]);
}
