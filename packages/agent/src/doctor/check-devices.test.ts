import { afterEach, describe, expect, it } from 'vitest';
import { pciTree, type SysfsTree } from '../base/sysfs-tree.ts';
import { checkBars, checkGroups, checkLinks, checkLost, checkStandIns } from './check-devices.ts';
import { doctorHosts } from './testing/doctor-hosts.ts';

const { make, remove } = doctorHosts();
afterEach(remove);

const GPU = '0000:41:00.0';
const AUDIO = '0000:41:00.1';
const PORT = '0000:40:01.0';
const DISK_CARD = '0000:42:00.0';
const DRIVE = '0000:21:00.0';

/** A card with its audio function and its root port in one group. */
function server({ gpu = {}, others = [] }: { gpu?: SysfsTree; others?: string[] } = {}): SysfsTree {
  const group = 'kernel/iommu_groups/17/devices';
  return {
    ...pciTree(GPU, {
      ...{ class: '0x030200', vendor: '0x10de', device: '0x2335' },
      iommu_group: { link: '../../../../kernel/iommu_groups/17' },
      ...gpu,
    }),
    ...pciTree(AUDIO, { class: '0x040300', vendor: '0x10de', device: '0x22ba' }),
    ...pciTree(PORT, { class: '0x060400', vendor: '0x8086', device: '0x1' }),
    ...pciTree(DISK_CARD, {
      ...{ class: '0x010700', vendor: '0x1000', device: '0x97' },
      driver: { link: '../../../bus/pci/drivers/mpt3sas' },
    }),
    ...Object.fromEntries([GPU, AUDIO, PORT, ...others].map((name) => [`${group}/${name}`, ''])),
  };
}

describe('IOMMU groups', () => {
  it('that contain only a card, its functions and the bridges above it are ok', async () => {
    expect(await checkGroups(await make({ sys: server() }))).toMatchObject([{ severity: 'ok' }]);
  });

  it('that contain another device are a failure that names the device and its driver', async () => {
    const sys = server({ others: [DISK_CARD] });
    expect(await checkGroups(await make({ sys }))).toMatchObject([
      {
        severity: 'fail',
        found: `${GPU} shares IOMMU group 17 with ${DISK_CARD}, which the host's driver mpt3sas uses`,
        advice: expect.stringContaining('ACS'),
      },
    ]);
  });

  it('that are missing despite an IOMMU appear with the first driver', async () => {
    const sys = { ...server(), 'kernel/iommu_groups/1/type': 'DMA', ...drive() };
    expect(await checkGroups(await make({ sys }))).toMatchObject([
      { severity: 'warn', found: expect.stringContaining(DRIVE) },
    ]);
  });

  it('are not checked without an IOMMU', async () => {
    expect(await checkGroups(await make({ sys: drive() }))).toEqual([]);
  });
});

function drive(attributes: SysfsTree = {}): SysfsTree {
  return pciTree(DRIVE, {
    ...{ class: '0x010802', vendor: '0x144d', device: '0xa80a' },
    'nvme/nvme0/nvme0n1/size': '8',
    ...attributes,
  });
}

describe('memory regions', () => {
  const NONE = '0x0000000000000000 0x0000000000000000 0x0000000000000000';
  const SET = '0x0000100000000000 0x0000103fffffffff 0x000000000014220c';
  const UNSET = '0x0000000000000000 0x0000003fffffffff 0x000000002014220c';
  const config = (...bars: number[]) => {
    const bytes = Buffer.alloc(64);
    for (const [index, bar] of bars.entries()) bytes.writeUInt32LE(bar, 0x10 + index * 4);
    bytes.writeUInt16LE(0x10de, 0);
    return bytes;
  };

  it.each([
    ['all assigned', [SET, NONE], config(0xc, 0x1000), []],
    ['marked by the kernel', [UNSET, NONE], config(0xc, 0), ['0']],
    ['forgotten by the kernel', [SET, NONE, NONE, NONE], config(0xc, 0x10, 0xc, 0), ['2']],
    ['an upper half that looks like one', [SET, NONE], config(0xc, 0xc), []],
    ['ports', [NONE], config(0x5), []],
    ['none', [NONE], config(0), []],
  ])('%s', async (_, lines, bytes, bars) => {
    const sys = server({ gpu: { resource: lines.join('\n'), config: bytes } });
    const findings = await checkBars(await make({ sys }));
    expect(findings).toMatchObject(
      bars.length === 0
        ? [{ severity: 'ok' }]
        : [
            {
              severity: 'fail',
              found: `${GPU} has no addresses for region ${bars.join(' and ')}`,
              advice: expect.stringContaining('Above 4G Decoding'),
            },
          ],
    );
  });
});

describe('PCIe links', () => {
  const link = (width: string, speed = '32.0 GT/s PCIe') => ({
    ...{ max_link_speed: '32.0 GT/s PCIe', max_link_width: '16' },
    ...{ current_link_speed: speed, current_link_width: width },
  });

  it('with fewer lanes than possible are a warning; a lower speed is normal for idle links', async () => {
    const slow = server({ gpu: link('16', '2.5 GT/s PCIe') });
    expect(await checkLinks(await make({ sys: slow }))).toMatchObject([{ severity: 'ok' }]);
    expect(await checkLinks(await make({ sys: server({ gpu: link('8') }) }))).toMatchObject([
      { severity: 'warn', found: `${GPU} has 8 of 16 lanes` },
    ]);
  });

  it('of drives that the host uses are not checked', async () => {
    const sys = { ...drive(link('1')), 'class/block/nvme0n1/dev': '259:0' };
    const mountinfo = '36 35 259:0 / / rw - ext4 /dev/nvme0n1 rw';
    const host = await make({ sys, root: { 'proc/self/mountinfo': mountinfo } });
    expect(await checkLinks(host)).toEqual([]);
    expect(await checkLinks(await make({ sys }))).toMatchObject([{ severity: 'warn' }]);
  });
});

it('a device that fell off the bus is one failure, and no other finding names it', async () => {
  const sys = server({ gpu: { config: Buffer.alloc(64, 0xff), resource: '' } });
  const host = await make({ sys });
  expect(await checkLost(host)).toMatchObject([
    { severity: 'fail', found: `${GPU} fell off the bus` },
  ]);
  expect([await checkBars(host), await checkGroups(host)]).toEqual([[], []]);
  expect(await checkLost(await make({ sys: server() }))).toEqual([]);
});

it('stand-ins are reported as a warning, and real devices are not', async () => {
  expect(await checkStandIns(await make({ settings: { standIns: true } }))).toMatchObject([
    { severity: 'warn', check: 'stand-ins' },
  ]);
  expect(await checkStandIns(await make())).toEqual([]);
});
