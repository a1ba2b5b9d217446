import { afterEach, describe, expect, it } from 'vitest';
import { pciTree, type SysfsTree } from '../../../base/sysfs-tree.ts';
import { doctorHosts } from '../../../doctor/testing/doctor-hosts.ts';
import { checkSupport } from './check-gpus.ts';
import { needsFabricManager } from './fabric.ts';

const { make, remove } = doctorHosts();
afterEach(remove);

const REASON = 'needs a fabric manager, not supported yet';
const gpu = (address: string, device: string, vendor = '10de'): SysfsTree =>
  pciTree(address, { class: '0x030200', vendor: `0x${vendor}`, device: `0x${device}` });
const nvswitch = pciTree('0000:05:00.0', { class: '0x068000', vendor: '0x10de', device: '0x22a3' });
const otherBridge = pciTree('0000:05:00.0', { class: '0x068000', vendor: '0x8086' });

const unsupportedOf = async (sys: SysfsTree) =>
  (await make({ sys })).devices.map(({ attributes }) => attributes['unsupported'] ?? '');

describe('a GPU on an SXM board', () => {
  it.each(['2330', '2335', '20b2', '1db1', '2901', '2329'])(
    'is unsupported by its id %s alone',
    async (device) => {
      expect(await unsupportedOf(gpu('0000:41:00.0', device))).toEqual([REASON]);
    },
  );

  it('is recognised by the name that the PCI id database has for it', () => {
    const card = { vendorId: '10de', deviceId: '3fff' };
    const name = 'NVIDIA Corporation GX100 [X100 SXM7 300GB]';
    expect(needsFabricManager({ ...card, name }, false)).toBe(true);
    expect(needsFabricManager({ ...card, name: 'GX100 [X100 PCIe]' }, false)).toBe(false);
  });

  it('is recognised by an NVSwitch on the host, if its own id is unknown', async () => {
    const unknown = gpu('0000:41:00.0', '3fff');
    expect(await unsupportedOf(unknown)).toEqual(['']);
    expect(await unsupportedOf({ ...unknown, ...otherBridge })).toEqual(['']);
    expect(await unsupportedOf({ ...unknown, ...nvswitch })).toEqual([REASON]);
  });

  it('is a failure of the doctor with its address and the reason', async () => {
    const sys = { ...gpu('0000:41:00.0', '2330'), ...gpu('0000:42:00.0', '26b9') };
    expect(await checkSupport(await make({ sys }))).toMatchObject([
      { severity: 'fail', check: 'GPU support', found: `0000:41:00.0 ${REASON}` },
    ]);
  });
});

describe('a GPU that needs no fabric manager', () => {
  it.each([
    ['20b5', '10de'],
    ['26b9', '10de'],
    ['233b', '10de'],
    ['74a1', '1002'],
  ])('%s of %s is offered, also beside an NVSwitch', async (device, vendor) => {
    const sys = { ...gpu('0000:41:00.0', device, vendor), ...nvswitch };
    expect(await unsupportedOf(sys)).toEqual(['']);
    expect(await checkSupport(await make({ sys }))).toEqual([]);
  });
});
