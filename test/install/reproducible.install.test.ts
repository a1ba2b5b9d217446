import { afterAll, beforeAll, expect, it } from 'vitest';
import { hashesOf, makeRepository, type Repository } from './support/build-repository.ts';

let repository: Repository;
beforeAll(async () => {
  repository = await makeRepository();
});
afterAll(() => repository?.remove());

it('two builds without a cache give the same bytes', async () => {
  const first = await hashesOf(await repository.build('0.1.0', { name: 'first', fresh: true }));
  const second = await hashesOf(await repository.build('0.1.0', { name: 'second', fresh: true }));
  expect(Object.keys(first)).toHaveLength(4);
  expect(second).toEqual(first);
});
