import { afterEach, describe, expect, it } from 'vitest';
import { pciTree, type SysfsTree } from '../../../base/sysfs-tree.ts';
import { doctorHosts } from '../../../doctor/testing/doctor-hosts.ts';
import { checkGpuDrivers, checkGpus, checkResets } from './check-gpus.ts';

const { make, remove } = doctorHosts();
afterEach(remove);

const VENDORS = ['10de', '1002'];
const ONE = '0000:41:00.0';
const OTHER = '0000:c1:00.0';

function gpu(address: string, attributes: SysfsTree = {}): SysfsTree {
  return pciTree(address, {
    ...{ class: '0x030200', vendor: '0x10de', device: '0x2335', reset_method: 'flr bus' },
    ...attributes,
  });
}

const driver = (name: string) => ({ driver: { link: `../../../bus/pci/drivers/${name}` } });

describe('GPUs', () => {
  it('are counted by model', async () => {
    const sys = { ...gpu(ONE), ...gpu(OTHER), ...gpu('0000:c2:00.0', { device: '0x26b9' }) };
    expect(await checkGpus(await make({ sys }), VENDORS)).toMatchObject([
      { severity: 'ok', found: '2 x 10de:2335, 1 x 10de:26b9' },
    ]);
  });

  it('that are missing are a warning, which says how vendors are named', async () => {
    expect(await checkGpus(await make(), VENDORS)).toMatchObject([
      { severity: 'warn', advice: expect.stringContaining('GANTRY_GPU_VENDORS') },
    ]);
  });
});

describe('drivers of GPUs', () => {
  it('are no matter while they are idle ones', async () => {
    const sys = { ...gpu(ONE, driver('vfio-pci')), ...gpu(OTHER) };
    expect(await checkGpuDrivers(await make({ sys }))).toMatchObject([{ severity: 'ok' }]);
    expect(await checkGpuDrivers(await make())).toEqual([]);
  });

  it.each(['nouveau', 'amdgpu'])('of the host are to be kept off: %s', async (name) => {
    const sys = { ...gpu(ONE, driver(name)), ...gpu(OTHER, driver(name)) };
    expect(await checkGpuDrivers(await make({ sys }))).toMatchObject([
      {
        severity: 'warn',
        found: `the host's driver ${name} has ${ONE}, ${OTHER}`,
        advice: expect.stringContaining(`modprobe.blacklist=${name}`),
      },
    ]);
  });
});

describe('a GPU', () => {
  it('with a way to be reset is well', async () => {
    expect(await checkResets(await make({ sys: gpu(ONE) }))).toMatchObject([
      { severity: 'ok', found: 'flr bus' },
    ]);
  });

  it('of a kernel that does not name the ways is well where there is one', async () => {
    const sys = gpu(ONE, { reset_method: '', reset: '' });
    expect(await checkResets(await make({ sys }))).toMatchObject([{ severity: 'ok' }]);
  });

  it('without any cannot be given away', async () => {
    const sys = { ...gpu(ONE, { reset_method: '' }), ...gpu(OTHER) };
    expect(await checkResets(await make({ sys }))).toMatchObject([
      { severity: 'fail', found: expect.stringContaining(ONE) },
    ]);
  });

  it('of several functions is reset with its bus', async () => {
    const sys = {
      ...gpu(ONE, { reset_method: '' }),
      ...pciTree('0000:41:00.1', { class: '0x040300', vendor: '0x10de', device: '0x22ba' }),
    };
    expect(await checkResets(await make({ sys }))).toMatchObject([{ severity: 'warn' }]);
  });
});
