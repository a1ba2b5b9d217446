import { describe, expect, it } from 'vitest';
import type { HostSpec } from '../spec.ts';
import {
  makeDisk,
  makeNetwork,
  makeRule,
  makeSpec,
  makeTakeDown,
  makeVm,
} from '../testing/make-spec.ts';
import { judgeSpec } from './judge-spec.ts';

const isNew = { accepted: true, isNew: true };

it('a spec that needs what the agent cannot do is refused, because it would be applied in part', () => {
  expect(judgeSpec(makeSpec(1, { needs: ['needs'] }), null)).toEqual(isNew);
  expect(judgeSpec(makeSpec(1, { needs: ['needs', 'time_travel'] }), null)).toMatchObject({
    ...{ accepted: false, code: 'agent_too_old' },
    message: expect.stringMatching(/^refused: it needs time_travel, which agent .* does not have/),
  });
});

describe('numbers of one era', () => {
  const last = makeSpec(100);

  it('are accepted if they grow', () => {
    expect(judgeSpec(makeSpec(101), last)).toEqual(isNew);
  });

  it('are accepted again without being new if the content is the same', () => {
    expect(judgeSpec(makeSpec(100), last)).toEqual({ accepted: true, isNew: false });
  });

  it('are refused if they were accepted with other content', () => {
    const reused = makeSpec(100, { hash: 'of other content' });
    expect(judgeSpec(reused, last)).toMatchObject({ accepted: false, code: 'reused_number' });
  });

  it.each([99, 20, 9])('below the last one are refused: %d', (number) => {
    expect(judgeSpec(makeSpec(number), last)).toMatchObject({ code: 'stale_number' });
  });

  it('are compared correctly beyond the precision of a double', () => {
    const largest = { ...makeSpec(1), number: '18446744073709551614' };
    expect(judgeSpec({ ...largest, number: '18446744073709551615' }, largest)).toEqual(isNew);
  });
});

describe('eras', () => {
  const last = makeSpec(100, { era: '7' });

  it('that are later make a spec new, whatever its number is', () => {
    expect(judgeSpec(makeSpec(3, { era: '8' }), last)).toEqual(isNew);
    expect(judgeSpec(makeSpec(100, { era: '10' }), last)).toEqual(isNew);
  });

  it('that are earlier are refused, whatever the number is', () => {
    const stale = makeSpec(101, { era: '6' });
    expect(judgeSpec(stale, last)).toMatchObject({ accepted: false, code: 'stale_era' });
  });

  it('are not compared for a scheduler that sends none: its number counts', () => {
    const of = (number: number) => makeSpec(number, { era: '0', hash: '' });
    expect(judgeSpec(of(101), last)).toEqual(isNew);
    expect(judgeSpec(of(100), last)).toEqual({ accepted: true, isNew: false });
    expect(judgeSpec(of(99), last)).toMatchObject({ code: 'stale_number' });
  });

  it('a spec that was stored without a hash is replaced by one with the same number', () => {
    expect(judgeSpec(makeSpec(100), makeSpec(100, { hash: '' }))).toEqual(isNew);
  });
});

it.each<[string, HostSpec]>([
  ['number zero', makeSpec(0)],
  ['a VM without an id', makeSpec(1, { vms: [makeVm('')] })],
  ['a VM twice', makeSpec(1, { vms: [makeVm('a'), makeVm('a')] })],
  [
    'a VM that is desired and taken down',
    makeSpec(1, { vms: [makeVm('a')], takeDowns: [makeTakeDown('a')] }),
  ],
  ['a take-down without an id', makeSpec(1, { takeDowns: [makeTakeDown('')] })],
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
])('a spec with %s is refused', (_what, spec) => {
  expect(judgeSpec(spec, null)).toMatchObject({ accepted: false, code: 'bad_spec' });
});
