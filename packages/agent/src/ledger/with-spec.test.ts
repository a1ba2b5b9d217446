import { describe, expect, it } from 'vitest';
import type { HostSpec } from '../spec.ts';
import { makeDisk, makeSpec, makeTakeDown, makeVm } from '../testing/make-spec.ts';
import type { Holdings } from './judge-vms.ts';
import { type LedgerContent, NO_FACTS } from './ledger.ts';
import { withSpec } from './with-spec.ts';

const GPU = '0000:41:00.0';
const NOTHING: Holdings = { domains: [], devices: [] };
const NO_REFUSALS = { holdings: NOTHING, refusals: new Map(), nowMs: 1 };

const ledgerOf = (spec: HostSpec | null, vms: LedgerContent['vms'] = {}): LedgerContent => ({
  version: 1,
  spec,
  vms,
});

describe('the ledger with a new spec', () => {
  const known = { ...NO_FACTS, generation: '3', takenDownRevision: '2', shutdownAskedMs: 5 };

  it('has no consoles, because they belong to one stream', () => {
    const spec = makeSpec(2, { vms: [makeVm('a')], consoles: [{ id: 'c', vmId: 'a' }] });
    const next = withSpec(ledgerOf(null), { spec, ...NO_REFUSALS });
    expect(next.spec).toEqual({ ...spec, consoles: [] });
  });

  it('has no facts about VMs that are neither in the spec nor on the host', () => {
    const ledger = ledgerOf(makeSpec(1), { gone: known, stray: known });
    const holdings: Holdings = {
      domains: [],
      devices: [{ vmId: 'stray', kind: 'gpu', address: GPU }],
    };
    const next = withSpec(ledger, { spec: makeSpec(2), ...NO_REFUSALS, holdings });
    expect(Object.keys(next.vms)).toEqual(['stray']);
  });

  it('keeps the receipts of a take-down while its entry exists', () => {
    const spec = makeSpec(2, { takeDowns: [makeTakeDown('a')] });
    const next = withSpec(ledgerOf(null, { a: known }), { spec, ...NO_REFUSALS });
    expect(next.vms['a']).toEqual(known);
  });

  it('resets the facts of a VM that is desired again, except its last generation', () => {
    const spec = makeSpec(2, { vms: [makeVm('a')] });
    const next = withSpec(ledgerOf(null, { a: known }), { spec, ...NO_REFUSALS });
    expect(next.vms['a']).toEqual({ ...NO_FACTS, generation: '3', lastEntry: null });
  });

  it('keeps the last entry of a VM that the spec does not name, without the keys of its volumes', () => {
    const monitors = ['10.0.0.1:3300'];
    const rbd = {
      monitors,
      pool: 'vol',
      image: 'd',
      user: 'k',
      key: 'QVFCc2VjcmV0',
      passphrase: 'horse',
    };
    const cephfs = {
      ...{ monitors, fileSystem: 'fs', pool: 'shares', path: '/d', user: 's' },
      key: 'QVFCc2hhcmVk',
    };
    const disks = [makeDisk('d', { rbd }), makeDisk('s', { cephfs })];
    const stray = makeVm('stray', { name: 'mine', disks });
    const ledger = ledgerOf(makeSpec(1, { vms: [stray] }), {
      stray: known,
    });
    const holdings: Holdings = {
      domains: [],
      devices: [{ vmId: 'stray', kind: 'gpu', address: GPU }],
    };
    const once = withSpec(ledger, { spec: makeSpec(2), ...NO_REFUSALS, holdings });
    const twice = withSpec(once, { spec: makeSpec(3), ...NO_REFUSALS, holdings });
    expect(twice.vms['stray']?.lastEntry).toMatchObject({ id: 'stray', name: 'mine' });
    // Reports carry the entry.
    expect(JSON.stringify(twice)).not.toContain(rbd.key);
    expect(JSON.stringify(twice)).not.toContain(rbd.passphrase);
    expect(JSON.stringify(twice)).not.toContain(cephfs.key);
  });

  it('has the earlier entry of a refused VM, and the reason', () => {
    const before = makeVm('a', { revision: '4' });
    const spec = makeSpec(2, { vms: [makeVm('a', { revision: '5' }), makeVm('b')] });
    const refusals = new Map([['a', { code: 'bad_spec', message: 'refused: it is bad' }]]);
    const first = ledgerOf(makeSpec(1, { vms: [before] }));
    const next = withSpec(first, { spec, holdings: NOTHING, refusals, nowMs: 7 });
    expect(next.spec?.vms.map(({ id, revision }) => [id, revision])).toEqual([
      ['b', '1'],
      ['a', '4'],
    ]);
    const again = withSpec(next, { spec, holdings: NOTHING, refusals, nowMs: 9 });
    expect(again.refused).toEqual({
      a: {
        revision: '5',
        failure: { code: 'bad_spec', message: 'refused: it is bad', sinceMs: 7 },
      },
    });
    const healed = withSpec(again, { spec, ...NO_REFUSALS });
    expect(healed.refused).toEqual({});
  });

  it('keeps its era if a scheduler sends none', () => {
    const next = withSpec(ledgerOf(makeSpec(1, { era: '7' })), {
      ...{ spec: makeSpec(2, { hash: '' }), ...NO_REFUSALS },
    });
    expect(next.spec).toMatchObject({ era: '7', number: '2' });
  });
});
