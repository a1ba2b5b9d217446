import { describe, expect, it } from 'vitest';
import type { Domain } from '../host-driver.ts';
import { NO_FACTS, type VmFacts } from '../ledger/ledger.ts';
import { makeTakeDown, makeVm } from '../testing/make-spec.ts';
import { vmReport } from './build-report.ts';

const running: Domain = {
  vmId: 'vm-1',
  state: 'running',
  revision: '4',
  generation: '1',
  devices: [],
  disks: [{ id: 'os', sizeBytes: '1' }],
};
const off: Domain = { ...running, state: 'shutoff' };
const wanted = { takeDown: false, vm: makeVm('vm-1', { revision: '5' }) } as const;
const reset = { takeDown: false, vm: makeVm('vm-1', { revision: '5', generation: '2' }) } as const;
const takeDown = { takeDown: true, vm: makeTakeDown('vm-1', { revision: '5' }) } as const;
const working = { replied: '0', failure: null, hasFailed: false };
const failed = {
  replied: '5',
  failure: { code: 'host_failed', message: 'no', sinceMs: 1 },
  hasFailed: true,
};
const done = { replied: '5', failure: null, hasFailed: false };
const facts = (over: Partial<VmFacts>): VmFacts => ({ ...NO_FACTS, generation: '1', ...over });

type Known = Omit<Parameters<typeof vmReport>[0], 'id' | 'silence' | 'devices' | 'refused'>;
const none = { devices: [], refused: null };
type Case = [what: string, known: Known, state: string, revision: string];

it.each<Case>([
  [
    'no domain yet',
    { entry: wanted, domain: null, facts: NO_FACTS, work: working },
    'WORKING',
    '0',
  ],
  ['running', { entry: wanted, domain: running, facts: facts({}), work: done }, 'RUNNING', '5'],
  [
    'running, agent just started',
    { entry: wanted, domain: running, facts: facts({}), work: undefined },
    'RUNNING',
    '4',
  ],
  [
    'running, disk not attached',
    { entry: wanted, domain: running, facts: facts({}), work: failed },
    'RUNNING',
    '5',
  ],
  ['not built', { entry: wanted, domain: null, facts: NO_FACTS, work: failed }, 'FAILED', '5'],
  ['not reset', { entry: reset, domain: running, facts: facts({}), work: failed }, 'FAILED', '5'],
  [
    'being reset',
    { entry: reset, domain: running, facts: facts({}), work: working },
    'RUNNING',
    '4',
  ],
  [
    'crashed',
    { entry: wanted, domain: off, facts: facts({ crashed: true }), work: done },
    'CRASHED',
    '5',
  ],
  [
    'started after a crash',
    { entry: reset, domain: off, facts: facts({ crashed: true }), work: working },
    'WORKING',
    '0',
  ],
  [
    'being taken down',
    { entry: takeDown, domain: running, facts: facts({}), work: working },
    'WORKING',
    '0',
  ],
  [
    'not taken down',
    { entry: takeDown, domain: running, facts: facts({}), work: failed },
    'FAILED',
    '5',
  ],
  [
    'gone',
    {
      entry: takeDown,
      domain: null,
      facts: facts({ takenDownRevision: '5' }),
      work: undefined,
    },
    'TAKEN_DOWN',
    '5',
  ],
  [
    'gone by an earlier entry',
    { entry: takeDown, domain: null, facts: facts({ takenDownRevision: '4' }), work: working },
    'WORKING',
    '4',
  ],
  [
    'of no spec',
    { entry: null, domain: running, facts: NO_FACTS, work: undefined },
    'UNKNOWN',
    '0',
  ],
])('%s', (_what, known, state, revision) => {
  const report = vmReport({ id: 'vm-1', silence: null, ...none, ...known });
  expect(report).toMatchObject({ state: `VM_OBSERVED_STATE_${state}`, revision });
  expect(report.failure).toBe(known.work?.failure ?? null);
  expect(report.disks).toHaveLength(known.domain ? 1 : 0);
});

it('a domain that is only known from earlier is reported with the reason', () => {
  const silence = { code: 'host_failed', message: 'libvirt does not reply', sinceMs: 7 };
  const known = { id: 'vm-1', ...none, entry: wanted, facts: facts({}), silence };
  expect(vmReport({ ...known, domain: running, work: done })).toMatchObject({
    state: 'VM_OBSERVED_STATE_RUNNING',
    failure: silence,
  });
  expect(vmReport({ ...known, domain: running, work: failed }).failure).toBe(failed.failure);
  expect(vmReport({ ...known, domain: null, work: working }).failure).toBeNull();
});

describe('a domain that does not reply', () => {
  const unresponsive = { message: 'libvirt did not reply', sinceMs: 7 };
  const failure = { code: 'vm_unresponsive', ...unresponsive };
  const known = { id: 'vm-1', ...none, entry: wanted, facts: facts({}), silence: null };

  it('is reported in its last known state, with the reason', () => {
    const domain = { ...running, unresponsive };
    expect(vmReport({ ...known, domain, work: done })).toMatchObject({
      ...{ state: 'VM_OBSERVED_STATE_RUNNING', failure },
    });
  });

  it('proves nothing if it was never read, also after the agent has given up', () => {
    const domain: Domain = { ...running, state: 'unknown', disks: [], unresponsive };
    for (const work of [working, failed]) {
      const refused = { revision: '6', failure };
      const state = 'VM_OBSERVED_STATE_WORKING';
      expect(vmReport({ ...known, domain, work }).state).toBe(state);
      expect(vmReport({ ...known, domain, work, refused }).state).toBe(state);
    }
  });
});

it('a VM that is being started is being worked on, and has failed if the start was given up', () => {
  const known = { id: 'vm-1', ...none, entry: wanted, facts: facts({}), silence: null };
  const domain: Domain = { ...running, state: 'starting', generation: '0' };
  expect(vmReport({ ...known, domain, work: working }).state).toBe('VM_OBSERVED_STATE_WORKING');
  expect(vmReport({ ...known, domain, work: failed }).state).toBe('VM_OBSERVED_STATE_FAILED');
});

it('a running domain that lost its generation is reported with the ledger’s', () => {
  const lost = { ...running, revision: '0', generation: '0' };
  const known = { id: 'vm-1', ...none, entry: wanted, facts: facts({}), work: done, silence: null };
  expect(vmReport({ ...known, domain: lost })).toMatchObject({
    state: 'VM_OBSERVED_STATE_RUNNING',
    generation: '1',
  });
});

describe('a refused VM', () => {
  const failure = { code: 'device_in_use', message: 'refused: it is in use', sinceMs: 3 };
  const known = {
    ...{ id: 'vm-1', ...none, refused: { revision: '6', failure } },
    ...{ facts: NO_FACTS, work: undefined, silence: null },
  };

  it('that the host does not have has failed', () => {
    expect(vmReport({ ...known, entry: null, domain: null })).toMatchObject({
      ...{ state: 'VM_OBSERVED_STATE_FAILED', revision: '6', failure, known: null },
    });
  });

  it('that runs for an earlier entry runs on, and the report says what was refused', () => {
    expect(vmReport({ ...known, entry: wanted, domain: running })).toMatchObject({
      ...{ state: 'VM_OBSERVED_STATE_RUNNING', revision: '6', failure },
    });
  });
});

describe('an unknown VM', () => {
  const known = { id: 'vm-1', ...none, entry: null, work: undefined, silence: null };

  it('is described by its last entry', () => {
    const lastEntry = makeVm('vm-1', { name: 'train', projectId: 'project-1' });
    const report = vmReport({ ...known, domain: running, facts: facts({ lastEntry }) });
    expect(report.known).toEqual(lastEntry);
  });

  it('is described by its domain and devices if the ledger does not know it', () => {
    const devices = [{ kind: 'gpu', address: '0000:41:00.0' }] as const;
    const report = vmReport({ ...known, devices, domain: running, facts: NO_FACTS });
    expect(report.known).toMatchObject({
      id: 'vm-1',
      revision: '4',
      devices,
      disks: running.disks,
    });
  });
});
