import { afterEach, describe, expect, it } from 'vitest';
import { pciTree, type SysfsTree } from '../../../base/sysfs-tree.ts';
import { doctorHosts } from '../../../doctor/testing/doctor-hosts.ts';
import { findExtendedCapability } from '../../pci/extended-capability.ts';
import { checkPeers } from './check-peers.ts';

const { make, remove } = doctorHosts();
afterEach(remove);

const ACS = 0x0d;
const ATS = 0x0f;
const REDIRECT = 0x1d;
const DIRECT = 0x5d;

/** A config space whose first extended capability is another one. */
function config(id: number, control: number): Buffer {
  const bytes = Buffer.alloc(4_096);
  bytes.writeUInt32LE((0x200 << 20) | 0x1_0001, 0x100);
  bytes.writeUInt32LE(0x1_0000 | id, 0x200);
  bytes.writeUInt16LE(control, 0x206);
  return bytes;
}

const ROOT = '../../../devices/pci0000:40/0000:40:01.1/0000:41:00.0';
/** A GPU below its own port of a switch. */
function below(index: number, acs: number, ats = 0): SysfsTree {
  const port = `0000:42:0${index}.0`;
  const gpu = `0000:4${index + 3}:00.0`;
  return {
    ...pciTree(gpu, {
      ...{ class: '0x030200', vendor: '0x10de', device: '0x20b5', config: config(ATS, ats) },
    }),
    ...pciTree(port, { class: '0x060400', config: config(ACS, acs) }),
  };
}

const check = async (...cards: SysfsTree[]) => {
  const host = await make({ sys: Object.assign({}, ...cards) });
  const devices = host.devices.map((device, index) => ({
    ...device,
    bridges: [...ROOT.split('/').slice(-2), `0000:42:0${index}.0`],
  }));
  return checkPeers({ ...host, devices });
};

describe('GPUs below one switch', () => {
  it('exchange data through the IOMMU if ACS redirects requests', async () => {
    expect(await check(below(0, REDIRECT), below(1, REDIRECT))).toMatchObject([
      { severity: 'ok', found: expect.stringContaining('through the IOMMU') },
    ]);
  });

  it('exchange data directly if ACS lets translated requests pass and ATS is on', async () => {
    const direct = await check(below(0, DIRECT, 0x8000), below(1, DIRECT, 0x8000));
    expect(direct).toMatchObject([{ severity: 'ok', found: expect.stringContaining('(ATS)') }]);
    const without = await check(below(0, DIRECT, 0x8000), below(1, DIRECT));
    expect(without).toMatchObject([{ found: expect.stringContaining('through the IOMMU') }]);
  });

  it('are a warning that names the ports whose ACS is off', async () => {
    expect(await check(below(0, REDIRECT), below(1, 0))).toMatchObject([
      { severity: 'warn', found: expect.stringContaining('ACS of 0000:42:01.0 is off') },
    ]);
  });

  it('are no finding if there is only one', async () => {
    expect(await check(below(0, 0))).toEqual([]);
  });
});

describe('an extended capability', () => {
  it('is found behind another one, and is undefined if there is none', () => {
    expect(findExtendedCapability(config(ACS, 0), ACS)).toBe(0x200);
    expect(findExtendedCapability(config(ACS, 0), ATS)).toBeUndefined();
    expect(findExtendedCapability(Buffer.alloc(64), ACS)).toBeUndefined();
    expect(findExtendedCapability(Buffer.alloc(4_096, 0xff), ACS)).toBeUndefined();
  });

  it('is undefined in a list that goes around in a circle', () => {
    const bytes = Buffer.alloc(4_096);
    bytes.writeUInt32LE((0x100 << 20) | 0x1_0001, 0x100);
    expect(findExtendedCapability(bytes, ACS)).toBeUndefined();
  });
});
