// Installs the dependencies if the lockfile or a package.json has changed.
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
  // Native packages depend on the platform, so a checkout that was copied from another one is
  // installed again.
  const stamp = hashFiles(inputs, process.platform, process.arch);
  if (readText(stampFile) === stamp) return;

  console.log('Installing dependencies …');
  const { packageManager } = JSON.parse(readText(path.join(root, 'package.json')));
  const args = ['--yes', packageManager, 'install', '--frozen-lockfile'];
  // CI=1 because pnpm would otherwise ask before it replaces node_modules, and fail without a
  // terminal.
  const env = { ...process.env, CI: '1' };
  // Set if npx started this process with a Node of another version: it would replace pnpm.
  delete env.npm_config_package;
  const { ok, output } = await run('npx', args, { quiet: true, env });
  if (!ok) {
    throw new Error(
      `${output.trim()}\n\nThe installation of the dependencies failed: npx ${args.join(' ')}`,
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
