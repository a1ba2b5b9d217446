import { describe, expect, it } from 'vitest';
import type { Domain } from '../host-driver.ts';
import { NO_FACTS, type VmFacts } from '../ledger/ledger.ts';
import { makeTakeDown, makeVm } from '../testing/make-spec.ts';
import { planVm } from './plan.ts';

const NOW = 'this-boot';
const domain = (over: Partial<Domain> = {}): Domain => ({
  vmId: 'vm-1',
  state: 'running',
  revision: '5',
  generation: '2',
  devices: [],
  disks: [{ id: 'vm-1-os', sizeBytes: '1' }],
  ...over,
});
const facts = (over: Partial<VmFacts> = {}): VmFacts => ({
  ...NO_FACTS,
  generation: '2',
  hostBootId: NOW,
  ...over,
});
const wanted = { takeDown: false, vm: makeVm('vm-1', { revision: '5', generation: '2' }) } as const;
const takeDown = { takeDown: true, vm: makeTakeDown('vm-1', { revision: '5' }) } as const;

type Case = [what: string, domain: Domain | null, facts: VmFacts, plan: string];

describe('a desired VM', () => {
  it.each<Case>([
    ['never seen', null, NO_FACTS, 'up'],
    ['defined and not started', domain({ state: 'shutoff', generation: '0' }), NO_FACTS, 'up'],
    ['about to be started', domain({ state: 'shutoff', generation: '0' }), facts(), 'up'],
    ['being started', domain({ state: 'starting', generation: '0' }), facts(), 'awaitStart'],
    [
      'being started for an earlier order',
      domain({ state: 'starting', generation: '0' }),
      facts({ generation: '1' }),
      'awaitStart',
    ],
    ['running as wanted', domain(), facts(), 'nothing'],
    ['running as wanted, with its start not written down', domain(), NO_FACTS, 'nothing'],
    ['running with an earlier revision', domain({ revision: '4' }), facts(), 'adjust'],
    ['running, with its start cut off midway', domain({ generation: '0' }), facts(), 'adjust'],
    [
      'running, its order and revision lost',
      domain({ generation: '0', revision: '0' }),
      facts(),
      'adjust',
    ],
    [
      'running, for an unknown generation',
      domain({ generation: '0', revision: '0' }),
      NO_FACTS,
      'reset',
    ],
    [
      'running with a disk that an operator limits',
      domain({ disks: [{ id: 'vm-1-os', sizeBytes: '1', tune: { total_iops_sec: '9' } }] }),
      facts(),
      'adjust',
    ],
    ['running without a disk', domain({ disks: [] }), facts(), 'adjust'],
    [
      'running with another disk',
      domain({ disks: ['vm-1-os', 'other'].map((id) => ({ id, sizeBytes: '1' })) }),
      facts(),
      'adjust',
    ],
    [
      'off, its order and revision lost',
      domain({ state: 'shutoff', generation: '0', revision: '0' }),
      facts(),
      'crashed',
    ],
    [
      'running for an earlier generation',
      domain({ generation: '1' }),
      facts({ generation: '1' }),
      'reset',
    ],
    [
      'running for a later generation',
      domain({ generation: '10' }),
      facts({ generation: '10' }),
      'nothing',
    ],
    ['ended since this order', domain({ state: 'shutoff' }), facts(), 'crashed'],
    ['crashed since this order', domain({ state: 'crashed' }), facts(), 'crashed'],
    ['vanished since this order', null, facts(), 'crashed'],
    [
      'crashed since an earlier order',
      domain({ state: 'crashed', generation: '1' }),
      facts({ generation: '1' }),
      'up',
    ],
    ['gone with its host', null, facts({ hostBootId: 'before' }), 'up'],
    [
      'off since its host started',
      domain({ state: 'shutoff' }),
      facts({ hostBootId: 'before' }),
      'up',
    ],
    [
      'crashed before its host started',
      null,
      facts({ hostBootId: 'before', crashed: true }),
      'crashed',
    ],
    ['off, with no word of the ledger', domain({ state: 'shutoff' }), NO_FACTS, 'crashed'],
  ])('%s', (_what, seen, known, plan) => {
    expect(planVm(wanted, { domain: seen, facts: known, hostBootId: NOW })).toBe(plan);
  });
});

describe('a VM that is taken down', () => {
  it.each<Case>([
    ['running', domain(), facts(), 'takeDown'],
    ['being started', domain({ state: 'starting' }), facts(), 'takeDown'],
    ['never seen', null, NO_FACTS, 'takeDown'],
    ['taken down by this entry', null, facts({ takenDownRevision: '5' }), 'nothing'],
    ['taken down by an earlier entry', null, facts({ takenDownRevision: '4' }), 'takeDown'],
  ])('%s', (_what, seen, known, plan) => {
    expect(planVm(takeDown, { domain: seen, facts: known, hostBootId: NOW })).toBe(plan);
  });
});

it('a VM that no spec names is left alone', () => {
  expect(planVm(null, { domain: domain(), facts: facts(), hostBootId: NOW })).toBe('nothing');
});
