// npm run check: everything that is checked without running the code. npm run check:fast (--fast):
// the checks that most changes need. All checks run, even if one fails, and several run at once.
import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { findFolderProblems } from './check-folders.mjs';
import { findLockfileProblems } from './check-lockfile.mjs';
import { findMissingMigration } from './check-migrations.mjs';
import { ensureInstalled } from './install.mjs';
import { findMonitoringProblems } from './monitoring.mjs';
import { findStaleProtoTypes } from './proto-types.mjs';
import { findStaleSdk } from './sdk-client.mjs';
import { isMain, readText, root, run, secondsSince, tool } from './workspace.mjs';

const runTool =
  (name, ...args) =>
  () =>
    run(tool(name), args, { quiet: true });

/** Ignored by Git. The caches make a second run several times faster. */
const cache = path.join(root, 'node_modules/.cache/gantry');
const TYPES_CACHE = ['--incremental', '--tsBuildInfoFile', path.join(cache, 'types.tsbuildinfo')];
const IMPORTS_CACHE = ['--cache', path.join(cache, 'imports'), '--cache-strategy', 'content'];
const IMPORTS = ['--config', '--output-type', 'err', 'packages', 'proto', 'test'];

/** The slowest come first, so that the others run beside them. */
const CHECKS = {
  types: runTool('tsc', '-p', 'tsconfig.json', '--pretty', 'false', ...TYPES_CACHE),
  'types of the console': runTool(
    'tsc',
    '-p',
    'packages/console/tsconfig.json',
    '--pretty',
    'false',
  ),
  biome: runTool('biome', 'ci', '--colors=off', '.'),
  imports: runTool('depcruise', ...IMPORTS_CACHE, ...IMPORTS),
  folders: async () => verdict(findFolderProblems().join('\n')),
  unused: runTool('knip', '--no-progress'),
  migrations: runTool('drizzle-kit', 'check', '--config', 'packages/db/drizzle.config.ts'),
  'migrations are current': async () => verdict(await findMissingMigration()),
  'wire types are current': async () => verdict(await findStaleProtoTypes()),
  'sdk is current': async () => verdict(await findStaleSdk()),
  monitoring: async () => verdict(findMonitoringProblems()),
  lockfile: async () => {
    const text = readText(path.join(root, 'pnpm-lock.yaml')) ?? '';
    return verdict(findLockfileProblems(text).join('\n'));
  },
};

const FAST = [
  ...['types', 'biome', 'imports', 'folders', 'wire types are current', 'sdk is current'],
  'lockfile',
  'monitoring',
];

function verdict(problems) {
  return { ok: problems === '', output: problems };
}

/** Runs the checks and prints a line for each as it ends. Returns the results. */
export async function check({ fast = false } = {}) {
  mkdirSync(cache, { recursive: true });
  const queue = Object.entries(CHECKS).filter(([name]) => !fast || FAST.includes(name));
  const results = [];
  const work = async () => {
    for (let next = queue.shift(); next; next = queue.shift())
      results.push(await runCheck(...next));
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), 4) }, work));
  return results;
}

async function runCheck(name, look) {
  const start = performance.now();
  const { ok, output } = await look();
  const seconds = secondsSince(start);
  console.log(`${ok ? 'ok    ' : 'FAILED'}  ${name} (${seconds.toFixed(1)} s)`);
  if (!ok) console.log(output.trimEnd());
  return { name, ok, seconds };
}

if (isMain(import.meta.url)) {
  try {
    await ensureInstalled();
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
  const results = await check({ fast: process.argv.includes('--fast') });
  process.exit(results.every(({ ok }) => ok) ? 0 : 1);
}
