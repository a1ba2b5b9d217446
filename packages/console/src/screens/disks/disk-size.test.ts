import { expect, it } from 'vitest';
import { showSize, sizeInGib } from './disk-size.ts';

it('sizes are compared by their amount, whatever their unit is', () => {
  expect(
    ['2TiB', '100GiB', '1TiB', '9GiB'].toSorted((a, b) => sizeInGib(a) - sizeInGib(b)),
  ).toEqual(['9GiB', '100GiB', '1TiB', '2TiB']);
});

it('a size is shown with a space before its unit', () => {
  expect(['128GiB', '2TiB'].map(showSize)).toEqual(['128 GiB', '2 TiB']);
});
