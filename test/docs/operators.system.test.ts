import { execFileSync } from 'node:child_process';
import { hasPostgresPrograms } from '@gantry/testkit/database/postgres-programs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OperatedWorld, startOperatedWorld } from './operated-world.ts';
import { PAGES, readPage } from './pages.ts';
import { LIMIT, runScript } from './run-script.ts';

/** scripts/debian-packages.mjs installs it for this suite, if it may. */
function hasAge(): boolean {
  try {
    execFileSync('age', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe.skipIf(!hasPostgresPrograms() || !hasAge())('every command of the page', LIMIT, () => {
  let world: OperatedWorld;
  beforeAll(async () => {
    world = await startOperatedWorld();
  }, LIMIT.timeout);
  afterAll(() => world?.stop());

  it.each(PAGES)('%s succeeds', async (page) => {
    const run = await runScript(world, readPage(page).script);
    expect(run, run.output).toMatchObject({ code: 0 });
  });
});
