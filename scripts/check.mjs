// Everything that is checked without running the code. All checks run, even after one has failed.
import path from 'node:path';
import { findFolderProblems } from './check-folders.mjs';
import { findLockfileProblems } from './check-lockfile.mjs';
import { findMissingMigration } from './check-migrations.mjs';
import { ensureInstalled } from './install.mjs';
import { findStaleProtoTypes } from './proto-types.mjs';
import { isMain, readText, root, run, secondsSince, tool } from './workspace.mjs';

const runTool =
  (name, ...args) =>
  () =>
    run(tool(name), args, { quiet: true });

const CHECKS = {
  biome: runTool('biome', 'ci', '--colors=off', '.'),
  types: runTool('tsc', '-p', 'tsconfig.json', '--pretty', 'false'),
  imports: runTool('depcruise', '--config', '--output-type', 'err', 'packages', 'proto', 'test'),
  folders: async () => verdict(findFolderProblems().join('\n')),
  unused: runTool('knip', '--no-progress'),
  migrations: runTool('drizzle-kit', 'check', '--config', 'packages/db/drizzle.config.ts'),
  'migrations are current': async () => verdict(await findMissingMigration()),
  'wire types are current': async () => verdict(await findStaleProtoTypes()),
  lockfile: async () => {
    const text = readText(path.join(root, 'pnpm-lock.yaml')) ?? '';
    return verdict(findLockfileProblems(text).join('\n'));
  },
};

function verdict(problems) {
  return { ok: problems === '', output: problems };
}

/** Runs them one after the other and says how each went. */
export async function check() {
  const results = [];
  for (const [name, look] of Object.entries(CHECKS)) {
    const start = performance.now();
    const { ok, output } = await look();
    const seconds = secondsSince(start);
    console.log(`${ok ? 'ok    ' : 'FAILED'}  ${name} (${seconds.toFixed(1)} s)`);
    if (!ok) console.log(output.trimEnd());
    results.push({ name, ok, seconds });
  }
  return results;
}

if (isMain(import.meta.url)) {
  try {
    await ensureInstalled();
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
  const results = await check();
  process.exit(results.every(({ ok }) => ok) ? 0 : 1);
}
