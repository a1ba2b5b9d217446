import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeRepository, type Repository } from './support/build-repository.ts';

let repository: Repository;
beforeAll(async () => {
  repository = await makeRepository();
});
afterAll(() => repository?.remove());

it('lintian accepts the packages', async () => {
  const built = await repository.build('0.1.0');
  const args = ['--allow-root', '--fail-on', 'error,warning', '--tag-display-limit', '0', ...built];
  const checked = await promisify(execFile)('lintian', args).catch((error) => error);
  expect(`${checked.stdout}${checked.stderr}`).toBe('');
});
