import { describe, expect, it } from 'vitest';
import type { PciDevice } from '../../pci/pci-device.ts';
import { joinPairs, parseNvlinkPairs } from './nvlink-pairs.ts';

const [A, B, C] = ['0000:41:00.0', '0000:42:00.0', '0000:43:00.0'] as const;

const device = (address: string): PciDevice => ({
  address,
  vendorId: '10de',
  deviceId: '20f1',
  subsystemVendorId: '',
  subsystemDeviceId: '',
  iommuGroupOthers: [],
  driver: '',
  resetMethods: [],
  bridges: [],
  functions: [address],
  bars: [],
  name: '',
  lost: false,
});

describe('pairs as an operator writes them', () => {
  it('are two addresses with a dash, separated by commas, in either case', () => {
    expect(parseNvlinkPairs(`${A}-${B}`)).toEqual([[A, B]]);
    expect(parseNvlinkPairs(`${A}-${B}, 0000:C1:00.0-0000:C2:00.0`)).toEqual([
      [A, B],
      ['0000:c1:00.0', '0000:c2:00.0'],
    ]);
  });

  it('are none if that is the word', () => {
    expect(parseNvlinkPairs('none')).toEqual([]);
  });

  it.each([
    A,
    `none,${A}-${B}`,
    `${A}-`,
    `${A}-${B}-${C}`,
    `${A}-${A}`,
    `${A}-${B},${B}-${C}`,
    `${A}-${B},`,
    '41:00.0-42:00.0',
  ])('are refused where they cannot be: %s', (text) => {
    expect(() => parseNvlinkPairs(text)).toThrow();
  });
});

it('a pair with an end that is not there joins nothing and is told', () => {
  const warnings: string[] = [];
  const gpus = joinPairs([device(A), device(B)], [[A, C]], (message) => warnings.push(message));
  expect(gpus.map((gpu) => gpu.nvlinkPeer)).toEqual(['', '']);
  expect(warnings).toEqual([expect.stringContaining(`no GPU at ${C}`)]);
});
