// Installs the dependencies, and only when what they are made from has changed.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { hashFiles, isMain, packageDirectories, readText, root, run } from './workspace.mjs';

const stampFile = path.join(root, 'node_modules/.gantry-installed');

export async function ensureInstalled() {
  const inputs = [
    'pnpm-lock.yaml',
    'pnpm-workspace.yaml',
    ...packageDirectories().map((directory) => path.join(directory, 'package.json')),
  ].map((file) => path.join(root, file));
  // Native packages are chosen by platform, so a checkout that moved must be installed again.
  const stamp = hashFiles(inputs, process.platform, process.arch);
  if (readText(stampFile) === stamp) return;

  console.log('Installing dependencies …');
  const { packageManager } = JSON.parse(readText(path.join(root, 'package.json')));
  const args = ['--yes', packageManager, 'install', '--frozen-lockfile'];
  // Without a terminal pnpm would ask before it replaces a node_modules of another kind, and give up.
  const { ok, output } = await run('npx', args, { quiet: true, env: { ...process.env, CI: '1' } });
  if (!ok) {
    throw new Error(
      `${output.trim()}\n\nInstalling the dependencies failed: npx ${args.join(' ')}`,
    );
  }
  writeFileSync(stampFile, stamp);
}

if (isMain(import.meta.url)) {
  try {
    await ensureInstalled();
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}
