import { expect, it } from 'vitest';
import { gpuModelOf } from './gpu-models.ts';
import { CATALOGUE } from './vm-types.ts';

const CATALOGUE_CARDS = [
  ['2235', 'A40 48GB PCIe'],
  ['20f1', 'A100 40GB PCIe'],
  ['20b5', 'A100 80GB PCIe'],
  ['26b9', 'L40S 48GB PCIe'],
] as const;

it.each([...CATALOGUE_CARDS, ['2335', 'H200 141GB SXM5'] as const])(
  'the card 10de:%s is a %s',
  (deviceId, model) => {
    expect(gpuModelOf('10de', deviceId)).toBe(model);
    expect(gpuModelOf('10DE', deviceId.toUpperCase())).toBe(model);
  },
);

it('every GPU model of the catalogue has a PCI id', () => {
  const known = new Set<string>(CATALOGUE_CARDS.map(([deviceId]) => gpuModelOf('10de', deviceId)));
  expect(new Set(CATALOGUE.map(({ gpuType }) => gpuType))).toEqual(known);
});

it('an unknown card is named by its ids, which no VM type uses', () => {
  expect(gpuModelOf('10de', '25b6')).toBe('10de:25b6');
  expect(gpuModelOf('1002', '2235')).toBe('1002:2235');
  expect(CATALOGUE.map(({ gpuType }) => gpuType)).not.toContain('10de:25b6');
});
