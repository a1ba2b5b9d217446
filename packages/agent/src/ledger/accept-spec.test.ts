import { describe, expect, it } from 'vitest';
import type { HostSpec } from '../spec.ts';
import {
  drive,
  gpu,
  makeDisk,
  makeInterface,
  makeNetwork,
  makeRule,
  makeSpec,
  makeTakeDown,
  makeVm,
} from '../testing/make-spec.ts';
import { type Holdings, judgeSpec, withSpec } from './accept-spec.ts';
import { type LedgerContent, NO_FACTS } from './ledger.ts';

const GPU = '0000:41:00.0';
const NVME = '0000:21:00.0';
const NOTHING: Holdings = { domains: [], devices: [] };
const ledgerOf = (spec: HostSpec | null, vms: LedgerContent['vms'] = {}): LedgerContent => ({
  version: 1,
  spec,
  vms,
});
const judge = (spec: HostSpec, ledger = ledgerOf(null), holdings = NOTHING) =>
  judgeSpec(spec, { ledger, holdings });

describe('numbers', () => {
  const ledger = ledgerOf(makeSpec(100));

  it('are accepted if they grow', () => {
    expect(judge(makeSpec(101), ledger)).toEqual({ accepted: true, isNew: true });
  });

  it('are accepted again without being new', () => {
    expect(judge(makeSpec(100, { vms: [makeVm('x')] }), ledger)).toEqual({
      accepted: true,
      isNew: false,
    });
  });

  it.each([99, 20, 9])('below the last one are refused: %d', (number) => {
    expect(judge(makeSpec(number), ledger)).toMatchObject({ code: 'stale_number' });
  });

  it('are compared correctly beyond the precision of a double', () => {
    const last = ledgerOf({ ...makeSpec(1), number: '18446744073709551614' });
    const next = { ...makeSpec(1), number: '18446744073709551615' };
    expect(judge(next, last)).toEqual({ accepted: true, isNew: true });
  });
});

describe('a device', () => {
  const wanting = makeSpec(2, { vms: [makeVm('vm-b', { devices: [gpu(GPU)] })] });
  const held = { vmId: 'vm-a', kind: 'gpu', address: GPU } as const;
  const domain = {
    vmId: 'vm-a',
    state: 'shutoff',
    revision: '1',
    generation: '1',
    devices: [gpu(GPU)],
    disks: [],
  } as const;
  const receipt = {
    vmId: 'vm-a',
    revision: '2',
    kind: 'gpu',
    pciAddress: GPU,
    serial: '',
    method: 'flr',
    finishedMs: '1',
    failure: null,
  } as const;

  it.each<[string, HostSpec]>([
    [
      'two VMs',
      makeSpec(1, {
        vms: [makeVm('a', { devices: [gpu(GPU)] }), makeVm('b', { devices: [gpu(GPU)] })],
      }),
    ],
    ['one VM twice', makeSpec(1, { vms: [makeVm('a', { devices: [drive(NVME), drive(NVME)] })] })],
    [
      'a VM and one still to be cleaned',
      makeSpec(1, {
        vms: [makeVm('a', { devices: [drive(NVME)] })],
        takeDowns: [makeTakeDown('b', { devices: [drive(NVME)] })],
      }),
    ],
  ])('is not for %s', (_whom, spec) => {
    expect(judge(spec)).toMatchObject({ accepted: false, code: 'device_in_use' });
  });

  it.each<[string, LedgerContent, Holdings]>([
    ['bound', ledgerOf(null), { domains: [], devices: [held] }],
    ['in a domain, even one that is off', ledgerOf(null), { domains: [domain], devices: [] }],
    [
      'accepted earlier',
      ledgerOf(makeSpec(1, { vms: [makeVm('vm-a', { devices: [gpu(GPU)] })] })),
      NOTHING,
    ],
    [
      'not proven clean',
      ledgerOf(makeSpec(1, { takeDowns: [makeTakeDown('vm-a', { devices: [gpu(GPU)] })] })),
      NOTHING,
    ],
  ])('of another VM is refused while it is %s', (_how, ledger, holdings) => {
    expect(judge(wanting, ledger, holdings)).toMatchObject({ code: 'device_in_use' });
  });

  it('is free once there is a receipt for it', () => {
    const spec = makeSpec(1, { takeDowns: [makeTakeDown('vm-a', { devices: [gpu(GPU)] })] });
    const ledger = ledgerOf(spec, { 'vm-a': { ...NO_FACTS, receipts: [receipt] } });
    expect(judge(wanting, ledger).accepted).toBe(true);
  });

  it('may stay with its VM', () => {
    const holdings: Holdings = {
      domains: [{ ...domain, vmId: 'vm-b' }],
      devices: [{ ...held, vmId: 'vm-b' }],
    };
    expect(judge(wanting, ledgerOf({ ...wanting, number: '1' }), holdings).accepted).toBe(true);
  });
});

it.each<[string, HostSpec]>([
  ['number zero', makeSpec(0)],
  ['a VM without an id', makeSpec(1, { vms: [makeVm('')] })],
  ['a VM of revision zero', makeSpec(1, { vms: [makeVm('a', { revision: '0' })] })],
  ['a VM of generation zero', makeSpec(1, { vms: [makeVm('a', { generation: '0' })] })],
  ['a VM without cores', makeSpec(1, { vms: [makeVm('a', { cpuCores: 0 })] })],
  ['a VM without memory', makeSpec(1, { vms: [makeVm('a', { memoryMib: 0 })] })],
  ['a VM without disks', makeSpec(1, { vms: [makeVm('a', { disks: [] })] })],
  ['a VM with a nameless device', makeSpec(1, { vms: [makeVm('a', { devices: [gpu('')] })] })],
  [
    'a device of a kind that the agent does not know',
    makeSpec(1, { vms: [makeVm('a', { devices: [{ kind: 'hca' as 'gpu', address: GPU }] })] }),
  ],
  [
    'a nameless interface',
    makeSpec(1, { vms: [makeVm('a', { interfaces: [makeInterface('')] })] }),
  ],
  [
    'an interface without an address',
    makeSpec(1, { vms: [makeVm('a', { interfaces: [makeInterface('n', { mac: '' })] })] }),
  ],
  ['a VM twice', makeSpec(1, { vms: [makeVm('a'), makeVm('a')] })],
  [
    'a VM that is desired and taken down',
    makeSpec(1, { vms: [makeVm('a')], takeDowns: [makeTakeDown('a')] }),
  ],
  [
    'a take-down of revision zero',
    makeSpec(1, { takeDowns: [makeTakeDown('a', { revision: '0' })] }),
  ],
  ['a take-down without an id', makeSpec(1, { takeDowns: [makeTakeDown('')] })],
  ['a disk without an id', makeSpec(1, { vms: [makeVm('a', { disks: [makeDisk('')] })] })],
  ['a disk of no kind', makeSpec(1, { disks: [makeDisk('d', { kind: 'DISK_KIND_UNSPECIFIED' })] })],
  ['a disk of no size', makeSpec(1, { disks: [makeDisk('d', { sizeBytes: '0' })] })],
  ['a nameless disk to remove', makeSpec(1, { deletedDisks: [''] })],
  [
    'a rule of no direction',
    makeSpec(1, { firewallRules: [makeRule('r', { direction: 'DIRECTION_UNSPECIFIED' })] }),
  ],
  [
    'a rule of no action',
    makeSpec(1, { firewallRules: [makeRule('r', { action: 'ACTION_UNSPECIFIED' })] }),
  ],
  ['a network without an id', makeSpec(1, { networks: [makeNetwork('')] })],
  ['a network of no number', makeSpec(1, { networks: [makeNetwork('n', { vni: 0 })] })],
  ['a network of no subnet', makeSpec(1, { networks: [makeNetwork('n', { subnets: [] })] })],
  [
    'a neighbour without an address',
    makeSpec(1, {
      networks: [
        makeNetwork('n', {
          neighbours: [{ privateIpv4: '', mac: '02:00:00:00:00:01', hostIpv4: '' }],
        }),
      ],
    }),
  ],
  ['a rule of no protocol', makeSpec(1, { firewallRules: [makeRule('r', { protocols: [] })] })],
])('refuses %s', (_what, spec) => {
  expect(judge(spec)).toMatchObject({ accepted: false, code: 'bad_spec' });
});

describe('the ledger with a new spec', () => {
  const known = { ...NO_FACTS, generation: '3', takenDownRevision: '2', shutdownAskedMs: 5 };

  it('has no consoles, because they belong to one stream', () => {
    const spec = makeSpec(2, { vms: [makeVm('a')], consoles: [{ id: 'c', vmId: 'a' }] });
    const next = withSpec(ledgerOf(null), { spec, holdings: NOTHING });
    expect(next.spec).toEqual({ ...spec, consoles: [] });
  });

  it('has no facts about VMs that are neither in the spec nor on the host', () => {
    const ledger = ledgerOf(makeSpec(1), { gone: known, stray: known });
    const holdings: Holdings = {
      domains: [],
      devices: [{ vmId: 'stray', kind: 'gpu', address: GPU }],
    };
    const next = withSpec(ledger, { spec: makeSpec(2), holdings });
    expect(Object.keys(next.vms)).toEqual(['stray']);
  });

  it('keeps the receipts of a take-down while its entry exists', () => {
    const spec = makeSpec(2, { takeDowns: [makeTakeDown('a')] });
    const next = withSpec(ledgerOf(null, { a: known }), { spec, holdings: NOTHING });
    expect(next.vms['a']).toEqual(known);
  });

  it('resets the facts of a VM that is desired again, except its last generation', () => {
    const spec = makeSpec(2, { vms: [makeVm('a')] });
    const next = withSpec(ledgerOf(null, { a: known }), { spec, holdings: NOTHING });
    expect(next.vms['a']).toEqual({ ...NO_FACTS, generation: '3' });
  });
});
