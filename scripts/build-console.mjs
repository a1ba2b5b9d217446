// Builds the web console into packages/console/dist. Does nothing if no input has changed.
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { hashFiles, readText, root, run } from './workspace.mjs';

const directory = path.join(root, 'packages/console');
/** Vite empties it first, the stamp too: a build that was interrupted is made again. */
export const consoleFolder = path.join(directory, 'dist');
const stampFile = path.join(consoleFolder, 'build-stamp');

/** `fresh`: also if no input has changed. */
export async function buildConsole({ fresh = false } = {}) {
  const stamp = hashFiles(inputs(), process.version);
  if (!fresh && readText(stampFile) === stamp) return;
  const vite = path.join(directory, 'node_modules/.bin/vite');
  const { ok, output } = await run(vite, ['build'], { quiet: true, cwd: directory });
  if (!ok) throw new Error(`The build of the console failed:\n${output}`);
  writeFileSync(stampFile, stamp);
}

function inputs() {
  const own = ['index.html', 'package.json', 'vite.config.ts'].map((file) =>
    path.join(directory, file),
  );
  const folders = ['packages/console/src', 'packages/console/public', 'packages/sdk/src'];
  return [
    ...own,
    path.join(root, 'pnpm-lock.yaml'),
    ...folders.flatMap((folder) => filesIn(path.join(root, folder))),
  ];
}

function filesIn(folder) {
  return existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name))
        .sort()
    : [];
}
