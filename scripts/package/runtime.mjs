import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { readText, root, run } from '../workspace.mjs';
import { fetchTarball } from './fetch-tarball.mjs';
import { ARCHITECTURES, NODE } from './pins.mjs';

/** Puts Node and its licence into the folder. */
export async function unpackNode(architecture, folder) {
  const { name, integrity } = NODE.tarballs[architecture];
  const tarball = await fetchTarball({ name, version: NODE.version, integrity });
  const node = path.join(folder, 'usr/lib/gantry');
  const doc = path.join(folder, 'usr/share/doc/gantry-node');
  await untar(tarball, node, { strip: 2, files: ['package/bin/node'] });
  await untar(tarball, doc, { strip: 1, files: ['package/LICENSE'] });
  await stripSymbols(architecture, path.join(node, 'node'));
}

/** A fifth of the program are symbols that nothing reads. */
async function stripSymbols(architecture, file) {
  for (const program of ARCHITECTURES[architecture].strip) {
    const { ok } = await run(program, ['--strip-unneeded', file], { quiet: true });
    if (ok) return;
  }
  throw new Error(
    `No strip for ${architecture}: install binutils-x86-64-linux-gnu and binutils-aarch64-linux-gnu.`,
  );
}

/**
 * Puts the native part of argon2 into a node_modules folder. pnpm installs it for this machine only, so it
 * comes from the registry, with the hash of the lockfile.
 */
export async function unpackArgon2(architecture, nodeModules) {
  const name = `@node-rs/argon2-linux-${ARCHITECTURES[architecture].node}-gnu`;
  const { version, integrity } = lockedPackage(name);
  const folder = path.join(nodeModules, name);
  await untar(await fetchTarball({ name, version, integrity }), folder, { strip: 1, files: [] });
  if (!existsSync(path.join(folder, 'package.json')))
    throw new Error(`${name} has no package.json`);
}

function lockedPackage(name) {
  const lockfile = readText(path.join(root, 'pnpm-lock.yaml')) ?? '';
  const entry = new RegExp(`^  '${name}@([^']+)':\\n    resolution: \\{integrity: (\\S+?)\\}`, 'm');
  const [, version, integrity] = entry.exec(lockfile) ?? [];
  if (version === undefined) throw new Error(`pnpm-lock.yaml has no hash of ${name}`);
  return { version, integrity };
}

async function untar(tarball, folder, { strip, files }) {
  mkdirSync(folder, { recursive: true });
  const args = ['-xzf', tarball, '-C', folder, `--strip-components=${strip}`, '--no-same-owner'];
  const { ok, output } = await run('tar', [...args, ...files], { quiet: true });
  if (!ok) throw new Error(`${tarball} cannot be unpacked:\n${output}`);
}
