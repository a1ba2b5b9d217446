import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { runProgram } from './run-program.ts';

/** Debian keeps programs and libraries below /usr. These old names are links to there. */
export const MERGED: readonly string[] = ['bin', 'sbin', 'lib', 'lib64'];

/** Unpacks packages beside each other, without installing anything. */
export async function unpackPackages(files: readonly string[], root: string): Promise<void> {
  for (const file of files) await runProgram('dpkg-deb', ['-x', file, root]);
  // Older packages still use the old names.
  for (const name of MERGED) {
    const [old, merged] = [path.join(root, name), path.join(root, 'usr', name)];
    await mkdir(merged, { recursive: true });
    if (!existsSync(old)) continue;
    await runProgram('cp', ['-a', '--link', `${old}/.`, merged]);
    await rm(old, { recursive: true });
  }
}
