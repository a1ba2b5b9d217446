import { describe, expect, it } from 'vitest';
import type { HostSpec } from '../spec.ts';
import {
  drive,
  gpu,
  makeDisk,
  makeInterface,
  makeSpec,
  makeTakeDown,
  makeVm,
} from '../testing/make-spec.ts';
import { type Holdings, refusedVms } from './judge-vms.ts';
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
  refusedVms(spec, { ledger, holdings });

it('a VM that needs what the agent cannot do is refused alone', () => {
  const vms = [makeVm('newer', { needs: ['time_travel'] }), makeVm('plain', { needs: ['needs'] })];
  expect([...judge(makeSpec(1, { vms }))]).toMatchObject([['newer', { code: 'agent_too_old' }]]);
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
    properties: [],
  };

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
    const refusals = judge(spec);
    expect(refusals.get('a')).toMatchObject({ code: 'device_in_use' });
    expect(spec.takeDowns.filter(({ id }) => refusals.has(id))).toEqual([]);
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
    const refusals = judge(wanting, ledger, holdings);
    expect([...refusals]).toMatchObject([['vm-b', { code: 'device_in_use' }]]);
  });

  it('that a spec names for two VMs stays with the VM that holds it', () => {
    const both = makeSpec(2, {
      vms: ['vm-a', 'vm-b'].map((id) => makeVm(id, { devices: [gpu(GPU)] })),
    });
    const refusals = judge(both, ledgerOf(null), { domains: [], devices: [held] });
    expect([...refusals.keys()]).toEqual(['vm-b']);
  });

  it('is free once there is a receipt for it', () => {
    const spec = makeSpec(1, { takeDowns: [makeTakeDown('vm-a', { devices: [gpu(GPU)] })] });
    const ledger = ledgerOf(spec, { 'vm-a': { ...NO_FACTS, receipts: [receipt] } });
    expect(judge(wanting, ledger).size).toBe(0);
  });

  it('may stay with its VM', () => {
    const holdings: Holdings = {
      domains: [{ ...domain, vmId: 'vm-b' }],
      devices: [{ ...held, vmId: 'vm-b' }],
    };
    expect(judge(wanting, ledgerOf({ ...wanting, number: '1' }), holdings).size).toBe(0);
  });
});

it.each<[string, HostSpec]>([
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
  [
    'a take-down of revision zero',
    makeSpec(1, { takeDowns: [makeTakeDown('a', { revision: '0' })] }),
  ],
  ['a disk without an id', makeSpec(1, { vms: [makeVm('a', { disks: [makeDisk('')] })] })],
])('%s is refused, and the other VMs of the spec are not', (_what, spec) => {
  const refusals = judge({ ...spec, vms: [...spec.vms, makeVm('other')] });
  expect([...refusals]).toMatchObject([['a', { code: 'bad_spec' }]]);
});
