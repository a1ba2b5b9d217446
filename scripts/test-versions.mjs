// npm run test:versions -- REVISION: builds another version of Gantry from this repository, and lets
// hosts and control planes of both versions work together. REVISION is anything that git understands.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from './build.mjs';
import { run, tool } from './workspace.mjs';

const [revision] = process.argv.slice(2);
if (!revision) {
  console.error('usage: npm run test:versions -- REVISION');
  process.exit(2);
}
await build();
const directory = mkdtempSync(path.join(tmpdir(), 'gantry-version-'));
const checkout = path.join(directory, 'gantry');
try {
  await succeed('git', ['worktree', 'add', '--detach', checkout, revision]);
  await succeed(process.execPath, ['scripts/install.mjs'], checkout);
  await succeed(process.execPath, ['scripts/build.mjs'], checkout);
  process.env.GANTRY_OTHER_CHECKOUT = checkout;
  const { ok } = await run(tool('vitest'), ['run', '--project', 'versions']);
  process.exitCode = ok ? 0 : 1;
} finally {
  await run('git', ['worktree', 'remove', '--force', checkout], { quiet: true });
  rmSync(directory, { recursive: true, force: true });
}

async function succeed(program, args, cwd) {
  const { ok } = await run(program, args, { cwd });
  if (!ok) throw new Error(`${program} ${args.join(' ')} failed`);
}
