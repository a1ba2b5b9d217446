import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Turns } from './turns.ts';

function queue(limit: number) {
  const turns = new Turns<string>(limit);
  const entered: string[] = [];
  const come = (...guests: string[]) => {
    for (const guest of guests) void turns.enter(guest).then(() => entered.push(guest));
  };
  const seen = async () => {
    await setImmediate();
    return entered.join('');
  };
  return { turns, come, seen };
}

describe('turns', () => {
  it('are given at once while there is room, and to no more than there is', async () => {
    const { come, seen } = queue(2);
    come('a', 'b', 'c');
    expect(await seen()).toBe('ab');
  });

  it('are given in the order guests came, one for each that leaves', async () => {
    const { turns, come, seen } = queue(2);
    come('a', 'b', 'c', 'd', 'e');
    turns.leave('b');
    expect(await seen()).toBe('abc');
    turns.leave('a');
    turns.leave('c');
    expect(await seen()).toBe('abcde');
  });

  it('are not taken by those that leave while they wait, who are kept no longer', async () => {
    const { turns, come, seen } = queue(1);
    come('a', 'b', 'c');
    turns.leave('b');
    expect(await seen()).toBe('ab');
    turns.leave('a');
    expect(await seen()).toBe('abc');
  });

  it('are given back once, however often a guest leaves', async () => {
    const { turns, come, seen } = queue(1);
    come('a', 'b', 'c');
    turns.leave('a');
    turns.leave('a');
    turns.leave('nobody');
    expect(await seen()).toBe('ab');
  });
});
