import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ConcurrencyGate } from './concurrency-gate.ts';

function queue(limit: number) {
  const gate = new ConcurrencyGate<string>(limit);
  const entered: string[] = [];
  const come = (...holders: string[]) => {
    for (const holder of holders) void gate.enter(holder).then(() => entered.push(holder));
  };
  const seen = async () => {
    await setImmediate();
    return entered.join('');
  };
  return { gate, come, seen };
}

describe('the concurrency gate', () => {
  it('admits holders at once up to its limit', async () => {
    const { come, seen } = queue(2);
    come('a', 'b', 'c');
    expect(await seen()).toBe('ab');
  });

  it('admits one waiting holder for each that leaves, in order of arrival', async () => {
    const { gate, come, seen } = queue(2);
    come('a', 'b', 'c', 'd', 'e');
    gate.leave('b');
    expect(await seen()).toBe('abc');
    gate.leave('a');
    gate.leave('c');
    expect(await seen()).toBe('abcde');
  });

  it('releases a holder that leaves while it waits and gives it no place', async () => {
    const { gate, come, seen } = queue(1);
    come('a', 'b', 'c');
    gate.leave('b');
    expect(await seen()).toBe('ab');
    gate.leave('a');
    expect(await seen()).toBe('abc');
  });

  it('frees a place once even if the holder leaves several times', async () => {
    const { gate, come, seen } = queue(1);
    come('a', 'b', 'c');
    gate.leave('a');
    gate.leave('a');
    gate.leave('other');
    expect(await seen()).toBe('ab');
  });
});
