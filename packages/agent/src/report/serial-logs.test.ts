import { expect, it } from 'vitest';
import { tailOf } from './serial-logs.ts';

it('a tail has at most 64 KiB and starts with a complete character', () => {
  expect(tailOf('short')).toBe('short');
  const tail = tailOf(`${'x'.repeat(10)}${'ü'.repeat(40_000)}x`);
  expect(Buffer.byteLength(tail)).toBeLessThanOrEqual(65_536);
  expect(tail).toMatch(/^ü+x$/);
});
