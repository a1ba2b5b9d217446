import type { Guest } from './guest.ts';

/** Counts a namespace's packets of each kind from now on, by rules in a separate table. */
export async function countPackets<K extends string>(
  guest: Guest,
  { hook, kinds }: { hook: string; kinds: Record<K, string> },
) {
  const family = hook.includes('device') ? 'netdev' : 'bridge';
  const table = `${family} seen`;
  const rules = Object.entries<string>(kinds).map(
    ([kind, match]) => `${match} counter comment "${kind}"`,
  );
  const text = [
    'chain packets {',
    `type filter hook ${hook} priority 0; policy accept;`,
    ...rules,
    '}',
  ];
  const fresh = `add table ${table}\ndelete table ${table}\ntable ${table} {`;
  await guest.run('nft', [fresh, ...text, '}'].join('\n'));
  return async (): Promise<Record<K, number>> => {
    const listed = await guest.run('nft', '-j', 'list', 'table', ...table.split(' '));
    const counts = Object.keys(kinds).map((kind) => [kind, countedBy(listed, kind)]);
    return Object.fromEntries(counts);
  };
}

type Listing = {
  nftables: { rule?: { comment?: string; expr: { counter?: { packets: number } }[] } }[];
};

/** Returns the counters of rules with this comment, from the output of `nft -j list`. */
export function countedBy(json: string, comment: string): number {
  const { nftables }: Listing = JSON.parse(json);
  return nftables
    .flatMap(({ rule }) => (rule?.comment === comment ? rule.expr : []))
    .reduce((sum, { counter }) => sum + (counter?.packets ?? 0), 0);
}
