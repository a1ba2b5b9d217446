import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GIB, MIB } from '@gantry/daemon/units';
import { gpuModelOf } from '@gantry/model/gpu-models';
import { expect, it } from 'vitest';
import { pciTree, writeSysfsTree } from '../../base/sysfs-tree.ts';
import { inventoryDevice } from '../kinds/kind-driver.ts';
import { createKinds } from '../kinds/kinds.ts';
import { readDevices } from '../read-devices.ts';
import { isAllOnes, parseBars } from './pci-attributes.ts';

it('the attributes of a real H200 make the inventory that was printed on that server', async () => {
  const root = await mkdtemp(join(tmpdir(), 'h200-'));
  try {
    const sys = pciTree('0000:00:06.0', {
      ...capturedAttributes(),
      config: Buffer.from([0xde, 0x10, 0x35, 0x23, 0x46, 0x05, 0x10, 0x00]),
      driver: { link: '../../../bus/pci/drivers/nvidia' },
    });
    await writeSysfsTree(root, sys);
    const devices = await readDevices({
      sysfsRoot: root,
      kinds: createKinds({ gpu: { vendorIds: ['10de'] } }),
      warn: () => undefined,
    });
    const [printed] = JSON.parse(readFixture('h200-inventory.json'));
    const attributes = { unsupported: 'needs a fabric manager, not supported yet' };
    expect(devices).toEqual([inventoryDevice('gpu', printed.pci, { attributes })]);
    expect(devices).toMatchObject([
      {
        // Its 141 GB of memory lie in a region of the next power of two.
        bars: [
          { index: 0, sizeBytes: 16 * MIB },
          { index: 2, sizeBytes: 256 * GIB, is_64bit: true, prefetchable: true },
          { index: 4, sizeBytes: 32 * MIB },
        ],
      },
    ]);
    const [gpu] = devices;
    expect(gpuModelOf(gpu?.vendorId ?? '', gpu?.deviceId ?? '')).toBe('H200 141GB SXM5');
  } finally {
    await rm(root, { recursive: true });
  }
});

function readFixture(name: string): string {
  return readFileSync(join(import.meta.dirname, 'testing', name), 'utf8');
}

/** One attribute per line, its lines separated by bars. */
function capturedAttributes(): Record<string, string> {
  const lines = readFixture('h200-attributes.txt').trim().split('\n');
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...rest] = line.split(': ');
      return [name, rest.join(': ').replace(/\|$/, '').replaceAll('|', '\n')];
    }),
  );
}

const line = (start: string, end: string, flags: string) => `0x${start} 0x${end} 0x${flags}`;
const NONE = line('0000000000000000', '0000000000000000', '0000000000000000');

it.each([
  [
    'below 4 GiB',
    line('00000000f0000000', '00000000f0ffffff', '0000000000040200'),
    { index: 0, sizeBytes: 16 * MIB, is_64bit: false, prefetchable: false },
  ],
  [
    'above the numbers JavaScript counts with',
    line('fff0000000000000', 'fff0000fffffffff', '000000000014220c'),
    { index: 0, sizeBytes: 64 * GIB, is_64bit: true, prefetchable: true },
  ],
])('a region %s has its size', (_, resource, bar) => {
  expect(parseBars(resource)).toEqual([bar]);
});

it.each([
  ['ports', line('000000000000e000', '000000000000e07f', '0000000000040101')],
  ['nothing', NONE],
  ['a file that is not there', undefined],
  ['something else', 'not a resource'],
])('%s are not memory regions', (_, resource) => {
  expect(parseBars(resource)).toEqual([]);
});

it('the ROM and the lines after it are not regions of a device', () => {
  const rom = line('00000000f1000000', '00000000f107ffff', '0000000000046200');
  expect(parseBars([NONE, NONE, NONE, NONE, NONE, NONE, rom].join('\n'))).toEqual([]);
});

it('only a buffer of ones is all ones', () => {
  expect([undefined, Buffer.alloc(0), Buffer.from([0xff, 0xfe])].map(isAllOnes)).toEqual([
    false,
    false,
    false,
  ]);
  expect(isAllOnes(Buffer.alloc(4, 0xff))).toBe(true);
});
