import { afterEach, describe, expect, it } from 'vitest';
import { checkInterrupts, checkIommu, checkVfio } from './check-iommu.ts';
import { doctorHosts } from './testing/doctor-hosts.ts';

const { make, remove } = doctorHosts();
afterEach(remove);

describe('the IOMMU', () => {
  it('is on if there are groups; its mode is reported', async () => {
    const sys = { 'kernel/iommu_groups/0/type': 'identity', 'kernel/iommu_groups/1/type': 'DMA' };
    expect(await checkIommu(await make({ sys }))).toMatchObject([
      { severity: 'ok', found: expect.stringContaining('2 groups, translated') },
    ]);
  });

  it.each([
    ['x64', 'vendor_id : GenuineIntel', 'intel_iommu=on iommu=pt'],
    ['x64', 'vendor_id : AuthenticAMD', 'AMD-Vi'],
    ['arm64', '', 'SMMU'],
  ] as const)(
    'that is off is turned on with the firmware setting of %s and "%s"',
    async (architecture, cpuinfo, advice) => {
      const root = { 'proc/cpuinfo': cpuinfo };
      expect(await checkIommu(await make({ architecture, root }))).toMatchObject([
        { severity: 'fail', advice: expect.stringContaining(advice) },
      ]);
    },
  );
});

describe('interrupt remapping', () => {
  const UNSAFE = 'module/vfio_iommu_type1/parameters/allow_unsafe_interrupts';
  it.each([
    ['cannot be done by a unit', { 'class/iommu/dmar0/intel-iommu/ecap': 'f020d6' }, '', 'fail'],
    ['can be done by all', { 'class/iommu/dmar0/intel-iommu/ecap': 'f020df' }, '', 'ok'],
    ['is what units of AMD do', { 'class/iommu/ivhd0/amd-iommu/cap': '1' }, '', 'ok'],
    ['is done without', { [UNSAFE]: 'Y', 'class/iommu/ivhd0/amd-iommu/cap': '1' }, '', 'fail'],
    ['is insisted on', { [UNSAFE]: 'N', 'class/iommu/ivhd0/amd-iommu/cap': '1' }, '', 'ok'],
    ['was turned off', { 'class/iommu/ivhd0/amd-iommu/cap': '1' }, 'ro intremap=off', 'fail'],
  ])('that %s is a finding', async (_, sys, cmdline, severity) => {
    const host = await make({ sys, root: { 'proc/cmdline': cmdline } });
    expect(await checkInterrupts(host)).toMatchObject([{ severity }]);
  });

  it('is not checked on arm64 and without an IOMMU', async () => {
    const sys = { [UNSAFE]: 'Y' };
    expect(await checkInterrupts(await make({ architecture: 'arm64', sys }))).toEqual([]);
    expect(await checkInterrupts(await make())).toEqual([]);
  });
});

describe('vfio-pci', () => {
  const modules = 'lib/modules/6.8.0-48-generic';
  it.each([
    ['loaded', { sys: { 'bus/pci/drivers/vfio-pci/bind': '' } }],
    [
      'part of',
      { root: { [`${modules}/modules.builtin`]: 'kernel/drivers/vfio/pci/vfio-pci.ko' } },
    ],
    [
      'needed',
      { root: { [`${modules}/modules.dep`]: 'kernel/drivers/vfio/pci/vfio-pci.ko.zst:' } },
    ],
  ])('is %s', async (found, tree) => {
    expect(await checkVfio(await make(tree))).toMatchObject([
      { severity: 'ok', found: expect.stringContaining(found) },
    ]);
  });

  it('is missing if only another kernel or another module is installed', async () => {
    const root = {
      'lib/modules/6.1.0/modules.dep': 'kernel/drivers/vfio/pci/vfio-pci.ko:',
      [`${modules}/modules.dep`]: 'kernel/drivers/vfio/pci/vfio-pci-core.ko:',
    };
    expect(await checkVfio(await make({ root }))).toMatchObject([{ severity: 'fail' }]);
  });
});
