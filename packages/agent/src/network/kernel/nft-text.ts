/**
 * Pieces of nftables' language. Its parser refuses an empty list of elements, so none is written.
 */

export type NamedSet = {
  kind: 'set' | 'map';
  name: string;
  /** For example `type ifname : verdict` or `typeof iifname : ct zone`. */
  of: string;
  elements: readonly string[];
  isOfRanges?: boolean;
};

export function renderSet({ kind, name, of, elements, isOfRanges = false }: NamedSet): string {
  const lines = [of];
  if (isOfRanges) lines.push('flags interval');
  // If a key occurs twice, the first entry is used: the kernel would refuse the whole table.
  const byKey = new Map([...elements].reverse().map((text) => [text.split(' : ')[0], text]));
  if (byKey.size > 0) lines.push(`elements = { ${[...byKey.values()].reverse().join(', ')} }`);
  return renderBlock(`${kind} ${name}`, lines);
}

export function renderBlock(title: string, lines: readonly string[]): string {
  const body = lines.flatMap((line) => line.split('\n')).map((line) => `\t${line}`);
  return [`${title} {`, ...body, '}'].join('\n');
}

export const quote = (name: string): string => `"${name}"`;
