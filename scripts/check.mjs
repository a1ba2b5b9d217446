// Everything that is checked without running the code. All checks run, even after one has failed.
import path from 'node:path';
import { ensureInstalled } from './install.mjs';
import { isMain, root, run, secondsSince, tool } from './workspace.mjs';

const script = (name) => [process.execPath, [path.join(root, 'scripts', name)]];

const CHECKS = [
  ['biome', tool('biome'), ['ci', '--colors=off', '.']],
  ['types', tool('tsc'), ['-p', 'tsconfig.json', '--pretty', 'false']],
  ['imports', tool('depcruise'), ['--config', '--output-type', 'err', 'packages', 'test']],
  ['unused', tool('knip'), ['--no-progress']],
  ['migrations', tool('drizzle-kit'), ['check', '--config', 'packages/db/drizzle.config.ts']],
  ['migrations are current', ...script('check-migrations.mjs')],
  ['lockfile', ...script('check-lockfile.mjs')],
];

/** Runs them one after the other and says how each went. */
export async function check() {
  const results = [];
  for (const [name, command, args] of CHECKS) {
    const start = performance.now();
    const { ok, output } = await run(command, args, { quiet: true });
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
