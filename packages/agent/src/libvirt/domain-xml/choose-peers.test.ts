import { describe, expect, it } from 'vitest';
import { choosePeers } from './choose-peers.ts';

const card = (group: string | null, below: string | null = group, cell: number | null = 0) => ({
  cell,
  peers: group === null ? null : { group, switch: below },
});
const cliques = (cards: Parameters<typeof choosePeers>[0]) =>
  choosePeers(cards).map(({ clique }) => clique);
const switches = (cards: Parameters<typeof choosePeers>[0]) =>
  choosePeers(cards).map(({ guestSwitch }) => guestSwitch);

describe('the cards of a guest', () => {
  it('below one switch have one clique and one switch, and those of another have others', () => {
    const cards = [card('a'), card('b'), card('a'), card('b'), card('a')];
    expect(cliques(cards)).toEqual([0, 1, 0, 1, 0]);
    expect(switches(cards)).toEqual([0, 1, 0, 1, 0]);
  });

  it('without a peer have no clique and no switch', () => {
    const cards = [card('a'), card(null), card('b'), card('b')];
    expect(cliques(cards)).toEqual([null, null, 0, 0]);
    expect(switches(cards)).toEqual([null, null, 0, 0]);
  });

  it('of one root complex share a clique, and a switch only if they share it on the host', () => {
    const cards = [card('root', 'a'), card('root', 'a'), card('root', null)];
    expect(cliques(cards)).toEqual([0, 0, 0]);
    expect(switches(cards)).toEqual([0, 0, null]);
  });

  it('are below one switch only if they are near the same cell', () => {
    expect(switches([card('a', 'a', 0), card('a', 'a', 1)])).toEqual([null, null]);
  });

  it('have cliques from 0 to 15; further groups have none', () => {
    const groups = Array.from({ length: 17 }, (_, index) => `switch-${index}`);
    const chosen = cliques(groups.flatMap((group) => [card(group), card(group)]));
    expect(chosen.slice(30)).toEqual([15, 15, null, null]);
  });
});
