import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findPciName, pciNames } from './pci-names.ts';

const DATABASE = Buffer.from(`# a comment
1002  Advanced Micro Devices, Inc. [AMD/ATI]
\t2335  Something of another vendor
10de  NVIDIA Corporation
\t22ba  AD102 High Definition Audio Controller
# in between
\t2335  GH100 [H200 SXM 141GB]
\t\t10de 18bf  A board
144d  Samsung Electronics Co Ltd
\ta80a  NVMe SSD Controller PM9A1
C 03  Display controller
\t02  3D controller`);

it.each([
  ['10de', '2335', 'NVIDIA Corporation GH100 [H200 SXM 141GB]'],
  ['1002', '2335', 'Advanced Micro Devices, Inc. [AMD/ATI] Something of another vendor'],
  ['144d', 'a80a', 'Samsung Electronics Co Ltd NVMe SSD Controller PM9A1'],
  ['144d', '2335', ''],
  ['1002', '22ba', ''],
  ['10de', '18bf', ''],
  ['10de', '0002', ''],
  ['ffff', 'ffff', ''],
  ['', '', ''],
])('%s:%s is "%s"', (vendor, device, name) => {
  expect(findPciName(DATABASE, vendor, device)).toBe(name);
});

it('a name comes from the first database that exists, read once per kind of device; without a database there are no names', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'pci-names-'));
  try {
    const file = join(directory, 'pci.ids');
    await writeFile(file, DATABASE);
    const names = pciNames([join(directory, 'missing'), file]);
    expect(await names('144d', 'a80a')).toContain('Samsung');
    await rm(file);
    expect(await names('144d', 'a80a')).toContain('Samsung');
    expect(await names('10de', '2335')).toBe('');
  } finally {
    await rm(directory, { recursive: true });
  }
});
