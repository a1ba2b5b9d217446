import { formatIpv4 } from '@gantry/model/cidr';
import { renderSet } from '../kernel/nft-text.ts';
import type { Lookup } from './plan-lookups.ts';
import type { Range } from './ranges.ts';
import type { Dimension } from './rule-match.ts';

/** The named sets of a network's rules of one direction, by content. */
export type SetPool = { name: string; sets: Map<string, string> };

const FEW = 4;
const ADDRESS = { type: 'ipv4_addr', format: formatIpv4, count: 2 ** 32 };
const PORT = { type: 'inet_service', format: String, count: 2 ** 16 };
type Values = { type: string; format: (value: number) => string; count: number };
const VALUES: Record<Dimension, Values> = {
  ...{ source: ADDRESS, destination: ADDRESS, sourcePort: PORT, destinationPort: PORT },
};

export function renderRanges(
  dimension: Dimension,
  ranges: readonly Range[],
  pool: SetPool,
): string {
  const elements = ranges.map((range) => formatRange(dimension, range));
  return renderElements({ of: VALUES[dimension].type, elements, isOfRanges: true }, pool);
}

/** A packet's fields, masked to the prefix sizes, and the set they are looked up in. */
export function renderKeys(
  { dimensions, sizes, keys }: Lookup & { kind: 'keys' },
  { field, pool }: { field: (dimension: Dimension) => string; pool: SetPool },
): string {
  const columns = dimensions.map((dimension, at) => ({ dimension, size: sizes[at] ?? 1 }));
  const fields = columns.map(({ dimension, size }) => {
    const { format, count } = VALUES[dimension];
    return size === 1 ? field(dimension) : `${field(dimension)} & ${format(count - size)}`;
  });
  const texts = keys.map((key) =>
    columns.map(({ dimension }, at) => VALUES[dimension].format(key[at] ?? 0)).join(' . '),
  );
  const of = dimensions.map((dimension) => VALUES[dimension].type).join(' . ');
  const found = renderElements({ of, elements: [...new Set(texts)], isOfRanges: false }, pool);
  return `${fields.join(' . ')} ${found}`;
}

/** A single element is compared directly; a few are written inline. */
function renderElements(content: SetContent, pool: SetPool): string {
  const { elements } = content;
  if (elements.length === 1 && content.isOfRanges) return elements.join();
  return elements.length <= FEW ? `{ ${elements.join(', ')} }` : addSet(content, pool);
}

type SetContent = { of: string; elements: readonly string[]; isOfRanges: boolean };

function addSet({ of, elements, isOfRanges }: SetContent, { name, sets }: SetPool): string {
  const key = `${of} ${elements.join()}`;
  const known = sets.get(key);
  const setName = known?.split(' ')[1] ?? `${name}_${sets.size}`;
  if (known === undefined) {
    const text = renderSet({ kind: 'set', name: setName, of: `type ${of}`, elements, isOfRanges });
    sets.set(key, text);
  }
  return `@${setName}`;
}

export function formatRange(dimension: Dimension, { first, last }: Range): string {
  const { format } = VALUES[dimension];
  return first === last ? format(first) : `${format(first)}-${format(last)}`;
}
