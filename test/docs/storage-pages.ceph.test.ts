import { startCeph, type TestCeph } from '@gantry/testkit/ceph/start-ceph';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OperatedWorld, startOperatedWorld } from './operated-world.ts';
import { readPage, STORAGE_PAGES } from './pages.ts';
import { LIMIT, runScript } from './run-script.ts';

/** An installation and a storage cluster that it does not know yet. */
describe('every command of the page', LIMIT, () => {
  let ceph: TestCeph;
  let world: OperatedWorld;
  beforeAll(async () => {
    ceph = await startCeph({ pools: [], mds: true });
    world = await startOperatedWorld({ ceph });
  }, LIMIT.timeout);
  afterAll(async () => {
    await world?.stop();
    await ceph?.stop();
  });

  it.each(STORAGE_PAGES)('%s succeeds', async (page) => {
    const run = await runScript(world, readPage(page).script);
    expect(run, run.output).toMatchObject({ code: 0 });
  });
});
