import type { Inventory__Output } from '@gantry/proto/generated/gantry/v1/Inventory';
import { describe, expect, it } from 'vitest';
import { completeFacts, differences, factsOf } from './host-facts.ts';
import { makeDrive, makeGpu, makeInventory, makeSoftware } from './testing/make-inventory.ts';

const GPU = '0000:41:00.0';
const DRIVE = '0000:81:00.0';
const SOFTWARE = {
  kernel: '6.1.0-25',
  firmware: '2.4',
  commandLine: 'quiet iommu=pt',
  iommu: 'identity',
};
const grouped = { iommuGroup: 12, iommuGroupOthers: ['0000:41:00.1', '0000:40:01.0'] };
const GPU_ACCEPTED = makeGpu(GPU, grouped);
const DRIVE_ACCEPTED = makeDrive(DRIVE, { serial: 'S1', iommuGroup: 20 });
const ACCEPTED = makeInventory({
  software: makeSoftware(SOFTWARE),
  devices: [GPU_ACCEPTED, DRIVE_ACCEPTED],
});
/** The accepted inventory with another GPU, or another drive. */
const withGpu = (...gpus: Parameters<typeof makeGpu>[1][]) => ({
  devices: [...gpus.map((change) => makeGpu(GPU, change)), DRIVE_ACCEPTED],
});
const withDrive = (...drives: Parameters<typeof makeDrive>[1][]) => ({
  devices: [GPU_ACCEPTED, ...drives.map((change) => makeDrive(DRIVE, change))],
});

const drift = (change: Partial<Inventory__Output>, accepted: Partial<Inventory__Output> = {}) =>
  differences(factsOf({ ...ACCEPTED, ...accepted }), factsOf({ ...ACCEPTED, ...change }));
const software = (change: Parameters<typeof makeSoftware>[0]) => ({
  software: makeSoftware({ ...SOFTWARE, ...change }),
});

describe('a host drifts', () => {
  it.each<[Partial<Inventory__Output>, string[]]>([
    [software({ kernel: '6.1.0-26' }), ['kernel: 6.1.0-25 → 6.1.0-26']],
    [software({ commandLine: 'quiet' }), ['command line: quiet iommu=pt → quiet']],
    [software({ firmware: '2.5' }), ['firmware: 2.4 → 2.5']],
    [software({ iommu: 'translated' }), ['IOMMU: identity → translated']],
    [software({ iommu: '' }), ['IOMMU: identity → off']],
    [withGpu(), [`${GPU}: gone`]],
    [withDrive(), [`${DRIVE}: gone`]],
    [
      {
        devices: [
          ...ACCEPTED.devices,
          makeGpu('0000:42:00.0', { subsystemVendorId: '10de', subsystemDeviceId: '145a' }),
        ],
      },
      ['0000:42:00.0: new, 10de:2235 10de:145a'],
    ],
    [withGpu({ ...grouped, deviceId: '20b5' }), [`${GPU}: 10de:2235 → 10de:20b5`]],
    [
      withGpu({ ...grouped, iommuGroupOthers: [] }),
      [`${GPU}: shares its IOMMU group with: 0000:40:01.0 0000:41:00.1 → nothing`],
    ],
    [withDrive({ serial: 'S2', iommuGroup: 20 }), [`${DRIVE}: serial number: S1 → S2`]],
  ])('%#: %j', (change, sentences) => {
    expect(drift(change)).toEqual(sentences);
  });

  it('in several ways at once, with a line for each', () => {
    expect(drift({ ...software({ kernel: '6.5', firmware: '3' }), devices: [] })).toEqual([
      ...['kernel: 6.1.0-25 → 6.5', 'firmware: 2.4 → 3', `${GPU}: gone`, `${DRIVE}: gone`],
    ]);
  });
});

describe('a host does not drift', () => {
  const aer = { correctable: '9', nonfatal: '9', fatal: '9' };
  const link = { speedGts: 2.5, maxSpeedGts: 16, width: 1, maxWidth: 16 };
  it.each<[string, Partial<Inventory__Output>]>([
    ['when it is the same', {}],
    ['by a newer agent, libvirt or distribution', software({ agent: '9', libvirt: '9', os: 'x' })],
    ['by an older agent that reports fewer facts', software({ commandLine: '', iommu: '' })],
    ['by a driver, a link or counters', withGpu({ ...grouped, driver: '', aer, link })],
    [
      'by the order of the devices in a group',
      withGpu({ iommuGroup: 12, iommuGroupOthers: grouped.iommuGroupOthers.toReversed() }),
    ],
    ['by a group that is not visible, for example without a driver', withGpu({})],
    ['by another number of its group', withGpu({ ...grouped, iommuGroup: 13 })],
    [
      'by a function of its card or a bridge above it that joined its group',
      withGpu({
        iommuGroup: 12,
        iommuGroupOthers: [...grouped.iommuGroupOthers, '0000:41:00.2', '0000:40:02.0'],
        functions: [GPU, '0000:41:00.2'],
        bridges: ['0000:40:02.0'],
      }),
    ],
    ['by a serial number that cannot be read', withDrive({ iommuGroup: 20 })],
    ['by the resources that VMs use', { memoryBytes: '1', nics: [], numaNodes: [] }],
  ])('%s', (_, change) => {
    expect(drift(change)).toEqual([]);
    expect(drift({}, change)).toEqual([]);
  });

  it('when its IOMMU appears only after its enrolment', () => {
    expect(drift({}, software({ iommu: '' }))).toEqual([]);
  });
});

describe('completeFacts', () => {
  it('adds new values and keeps those that cannot be read now', () => {
    const little = makeInventory({
      software: makeSoftware({ kernel: '6.1.0-25' }),
      devices: [makeGpu(GPU), makeDrive(DRIVE)],
    });
    const all = factsOf(ACCEPTED);
    expect(completeFacts(factsOf(little), all)).toEqual(all);
    expect(completeFacts(all, factsOf(little))).toEqual(all);
    expect(completeFacts(all, all)).toEqual(all);
  });
});
