// npm run dev: like npm start, and rebuilds and restarts what changed when a source file is saved.
// If a build fails, its errors are printed and the processes of the last good build keep running.
import { existsSync, readdirSync, watch } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import { build, bundleHashes } from './build.mjs';
import { affectedProcesses } from './dev-restarts.mjs';
import { ensureInstalled } from './install.mjs';
import { startLauncher } from './launcher.mjs';
import { packageDirectories, root } from './workspace.mjs';

/** Editors save in several steps; one build is enough for all of them. */
const SETTLE_MS = 200;

const args = process.argv.slice(2);
let launcher;
let relaunching = false;

function launch() {
  launcher = startLauncher(args);
  launcher.on('error', (error) => {
    console.error(error.message);
    process.exit(1);
  });
  launcher.on('exit', (code, signal) => {
    if (!relaunching) process.exit(code ?? 128 + (constants.signals[signal] ?? 0));
    relaunching = false;
    launch();
  });
}

async function rebuild() {
  const before = bundleHashes();
  try {
    await build();
  } catch (error) {
    console.error(`${error.message}\nThe build failed; the last good build keeps running.`);
    return;
  }
  const { restart, relaunch } = affectedProcesses(before, bundleHashes());
  if (relaunch) {
    console.log('The launcher changed; everything restarts.');
    relaunching = true;
    launcher.kill('SIGTERM');
    return;
  }
  for (const name of restart) launcher.send({ restart: name });
}

/**
 * Watches every source folder by itself. The recursive mode of Node 20 watches files, and loses a
 * file that an editor replaces by a new one.
 */
function watchSources(onChange) {
  const watched = new Set();
  const watchFolder = (folder) => {
    if (watched.has(folder) || !existsSync(folder)) return;
    watched.add(folder);
    const watcher = watch(folder, (_, file) => {
      watchSubfolders(folder);
      if (!file?.endsWith('.test.ts')) onChange();
    });
    // The folder was removed.
    watcher.on('error', () => {
      watcher.close();
      watched.delete(folder);
    });
    watchSubfolders(folder);
  };
  const watchSubfolders = (folder) => {
    if (!existsSync(folder)) return;
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory()) watchFolder(path.join(folder, entry.name));
    }
  };
  const folders = packageDirectories()
    .filter((directory) => directory.startsWith('packages/'))
    .flatMap((directory) => ['src', 'migrations', 'sql'].map((name) => `${directory}/${name}`));
  for (const folder of [...folders, 'proto/src', 'proto/gantry']) {
    watchFolder(path.join(root, folder));
  }
}

try {
  await ensureInstalled();
  await build();
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
launch();

let timer;
let building = Promise.resolve();
watchSources(() => {
  clearTimeout(timer);
  timer = setTimeout(() => {
    building = building.then(rebuild);
  }, SETTLE_MS);
});
