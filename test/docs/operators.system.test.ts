import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { hasPostgresPrograms } from '@gantry/testkit/database/postgres-programs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../scenarios/cli/run-bundle.ts';
import { type OperatedWorld, startOperatedWorld } from './operated-world.ts';
import { scriptOfPage } from './page-script.ts';

/** Pages for operators whose every command is executed, in this order: later ones need what earlier ones leave. */
const PAGES = [
  'images-and-disks.md',
  'gpu-image.md',
  'replace-a-gpu.md',
  'replace-a-drive.md',
  'failover.md',
  'replacing-keys.md',
  'backup.md',
  'recovery.md',
  'replace-a-host.md',
];

const pages = PAGES.map((page) => ({
  page,
  ...scriptOfPage(page, readFileSync(path.join(root, 'docs/operators', page), 'utf8')),
}));

describe.each(pages)('$page', ({ unmarked, testedBy }) => {
  it('says for each block whether it is a command', () => expect(unmarked).toEqual([]));

  it('names a test that exists for each command that needs a machine', () =>
    expect(testedBy.filter((each) => !existsSync(path.join(root, each.path)))).toEqual([]));
});

describe.skipIf(!hasPostgresPrograms())('every command of the page', () => {
  let world: OperatedWorld;
  beforeAll(async () => {
    world = await startOperatedWorld();
  });
  afterAll(() => world?.stop());

  it.each(pages)('$page succeeds', async ({ script }) => {
    const run = await runScript(world, script);
    expect(run, run.output).toMatchObject({ code: 0 });
  });
});

async function runScript({ env, localise }: OperatedWorld, script: string) {
  const args = ['--norc', '-euo', 'pipefail', '-c', localise(script)];
  return await new Promise<{ code: number | string; output: string }>((resolve) => {
    const child = execFile('bash', args, { env, cwd: env['HOME'] }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, output: `${stdout}\n${stderr}` }),
    );
    child.stdin?.end();
  });
}
