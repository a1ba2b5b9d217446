// Checks that the migrations match the schema: generating a migration from the schema must add nothing.
// It works on a copy, so that a check never changes the tree.
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isMain, root, run, tool } from './workspace.mjs';

const config = path.join(root, 'packages/db/drizzle.config.ts');

/** Returns the problem, or an empty string if the migrations are current. */
export async function findMissingMigration() {
  const cache = path.join(root, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const directory = mkdtempSync(path.join(cache, 'migrations-'));
  try {
    return await generateInto(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function generateInto(directory) {
  const copy = path.join(directory, 'migrations');
  cpSync(path.join(root, 'packages/db/migrations'), copy, { recursive: true });
  const copyConfig = path.join(directory, 'drizzle.config.ts');
  // drizzle-kit resolves paths against the working directory, which is the root.
  const out = `./${path.relative(root, copy)}`;
  writeFileSync(
    copyConfig,
    `import base from ${JSON.stringify(config)};\nexport default { ...base, out: ${JSON.stringify(out)} };\n`,
  );
  const args = ['generate', '--config', path.relative(root, copyConfig)];
  const { ok, output } = await run(tool('drizzle-kit'), args, { quiet: true });
  // If drizzle-kit has a question, for example whether a column was renamed, it writes no file and
  // exits with status 0. So only its output shows that there is nothing to migrate.
  if (ok && output.includes('nothing to migrate')) return '';
  return `${output}\nThe schema has changes without a migration: npm run gen:migration`;
}

if (isMain(import.meta.url)) {
  const problem = await findMissingMigration();
  if (problem) console.error(problem);
  process.exit(problem ? 1 : 0);
}
