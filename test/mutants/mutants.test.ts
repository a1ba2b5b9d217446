import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

it('every mutant can be made: its text is in the tree, once, and its tests are there', async () => {
  const script = path.resolve(import.meta.dirname, '../../scripts/mutants.mjs');
  const check = promisify(execFile)(process.execPath, [script, '--check']);
  await expect(check).resolves.toMatchObject({ stderr: '' });
});
