import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

it('every mutant can be applied: its text occurs once in the tree, and its tests exist', async () => {
  const script = path.resolve(import.meta.dirname, '../../scripts/mutants.mjs');
  const check = promisify(execFile)(process.execPath, [script, '--check']);
  await expect(check).resolves.toMatchObject({ stderr: '' });
});
