import { expect, it } from 'vitest';
import { readTags, writeTags } from './tags.ts';

it.each([
  ['', {}],
  ['env=prod', { env: 'prod' }],
  [' env = prod ,\n team=vision', { env: 'prod', team: 'vision' }],
  ['note=a=b, empty', { note: 'a=b', empty: '' }],
])('%j is read as tags, and is the same after it was written', (text, tags) => {
  expect(readTags(text)).toEqual(tags);
  expect(readTags(writeTags(tags as Record<string, string>))).toEqual(tags);
});
