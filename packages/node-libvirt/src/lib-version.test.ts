import { expect, it } from 'vitest';
import { renderLibVersion } from './lib-version.ts';

it.each([
  [9_000_000n, '9.0.0'],
  [10_012_003n, '10.12.3'],
])('the version %s is %s', (version, text) => {
  expect(renderLibVersion(version)).toBe(text);
});
