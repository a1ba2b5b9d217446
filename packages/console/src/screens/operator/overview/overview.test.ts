import { describe, expect, it } from 'vitest';
import { niceTop, pathOf } from '../../../components/chart/chart-path.ts';
import { describeEvent } from './describe-event.ts';
import { sumSamples } from './sum-samples.ts';

describe('samples of the capacity', () => {
  const counts = { cleaning: 0, sold: 1, blocked: 2, free_on_whole_hosts: 3 };
  const sample = (at: string, model: string, free: number) => ({ at, model, free, ...counts });
  const samples = [
    sample('2026-01-01T00:00:00.000Z', 'A40', 4),
    sample('2026-01-01T00:00:00.000Z', 'H100', 8),
    sample('2026-01-01T00:05:00.000Z', 'A40', 5),
  ];

  it('of one moment are added, for all models or for one', () => {
    expect(sumSamples(samples, '')).toMatchObject({ free: [12, 5], sold: [2, 1], whole: [6, 3] });
    expect(sumSamples(samples, 'A40')).toMatchObject({ free: [4, 5] });
    expect(sumSamples(samples, 'A40').at).toEqual([1767225600, 1767225900]);
    expect(sumSamples([], '')).toMatchObject({ at: [], free: [] });
  });

  it('are drawn where their time and value are, below a round number', () => {
    expect(pathOf([0, 50, 200], [0, 5, 10], 10)).toBe('M0.00 100.00L25.00 50.00L100.00 0.00');
    expect([0, 4, 5, 11, 21, 150].map(niceTop)).toEqual([4, 4, 10, 20, 40, 200]);
  });
});

describe('an event of the stream', () => {
  const text = (type: string, data: object) => describeEvent({ id: '1', type, data })?.text;

  it('is a sentence about the host or VM', () => {
    const host = {
      name: 'gpu-1',
      state: 'ready',
      admin_state: 'active',
      connected: true,
      drift: [],
    };
    expect(text('host', host)).toBe('Host gpu-1: ready');
    expect(text('host', { ...host, connected: false })).toBe(
      'Host gpu-1: its agent has disconnected',
    );
    expect(text('host', { ...host, state: 'unreachable' })).toBe('Host gpu-1: unreachable');
    expect(text('host', { ...host, deleted: true })).toBe('Host gpu-1: removed');
    expect(text('vm', { name: 'a', state: 'STATE_RUNNING' })).toBe('VM a: running');
    expect(text('vm', { name: 'a', state: 'STATE_OF_TOMORROW' })).toBe('VM a: state_of_tomorrow');
  });

  it('is left out if it is a step that succeeded, or of an unknown type', () => {
    expect(text('operation', { state: 'IN_PROGRESS' })).toBeUndefined();
    expect(text('devices', { items: [] })).toBeUndefined();
    expect(text('later', {})).toBeUndefined();
  });
});
