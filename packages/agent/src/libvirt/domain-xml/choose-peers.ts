import type { Peers } from '../../devices/kinds/kind-driver.ts';
import type { GuestPeers } from './domain-definition.ts';

/** QEMU's numbers of cliques: 0 to 15. */
const CLIQUES = 16;

type Card = { cell: number | null; peers: Peers | null };

/**
 * Chooses for each card its clique and its switch in the guest. A clique or a switch has at least two
 * cards: alone, a card has no peer, and a switch would show nothing.
 */
export function choosePeers(cards: readonly Card[]): GuestPeers[] {
  const cliqueOf = numberGroups(cards.map(({ peers }) => peers?.group ?? null));
  const switchOf = numberGroups(
    cards.map(({ peers, cell }) => (peers?.switch ? `${peers.switch} ${cell}` : null)),
  );
  return cards.map((_, index) => {
    const clique = cliqueOf[index] ?? null;
    return {
      clique: clique !== null && clique < CLIQUES ? clique : null,
      guestSwitch: switchOf[index] ?? null,
    };
  });
}

/** Numbers the keys that occur more than once, in the order in which they appear. */
function numberGroups(keys: readonly (string | null)[]): (number | null)[] {
  const shared = keys.filter((key, index) => key !== null && keys.indexOf(key) !== index);
  const numbered = [...new Set(keys.filter((key) => shared.includes(key)))];
  return keys.map((key) => (numbered.includes(key) ? numbered.indexOf(key) : null));
}
