import ipaddr from 'ipaddr.js';

/** An IPv4 block as two numbers, so that containment and overlap are simple comparisons. */
export type Cidr = { first: number; last: number; prefix: number };

const IPV4 = /^(0|[1-9][0-9]{0,2})(\.(0|[1-9][0-9]{0,2})){3}$/;

/** Parses "10.0.0.0/8". Returns undefined for anything else, also if host bits are set. */
export function parseCidr(text: string): Cidr | undefined {
  const [address = '', prefixText, ...rest] = text.split('/');
  if (
    rest.length > 0 ||
    prefixText === undefined ||
    !/^([0-9]|[12][0-9]|3[0-2])$/.test(prefixText)
  ) {
    return undefined;
  }
  const first = parseIpv4(address);
  if (first === undefined) return undefined;
  const prefix = Number(prefixText);
  const size = 2 ** (32 - prefix);
  return first % size === 0 ? { first, last: first + size - 1, prefix } : undefined;
}

/** Returns the canonical text of a rule's endpoint: a block, or an address as a /32 block. */
export function canonicalEndpointCidr(text: string): string | undefined {
  if (parseCidr(text)) return text;
  return parseIpv4(text) === undefined ? undefined : `${text}/32`;
}

export function parseIpv4(text: string): number | undefined {
  if (!IPV4.test(text) || !ipaddr.IPv4.isValid(text)) return undefined;
  return ipaddr.IPv4.parse(text).octets.reduce((sum, octet) => sum * 256 + octet, 0);
}

/** Returns whether the address can belong to one other machine: not 0/8, loopback or multicast. */
export function isUnicast(text: string): boolean {
  const address = parseIpv4(text);
  if (address === undefined) return false;
  const first = Math.floor(address / 2 ** 24);
  return first > 0 && first < 224 && first !== 127;
}

export function formatIpv4(address: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.');
}

export function formatCidr({ first, prefix }: Pick<Cidr, 'first' | 'prefix'>): string {
  return `${formatIpv4(first)}/${prefix}`;
}

export function cidrContains(outer: Cidr, inner: Cidr): boolean {
  return outer.first <= inner.first && inner.last <= outer.last;
}

export function cidrsOverlap(a: Cidr, b: Cidr): boolean {
  return a.first <= b.last && b.first <= a.last;
}

const PRIVATE_BLOCKS = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'].map((text) => {
  const block = parseCidr(text);
  if (!block) throw new Error(`BUG: ${text} is not a CIDR`);
  return block;
});

/** Networks of tenants must be inside the private blocks of RFC 1918. */
export function isPrivate(cidr: Cidr): boolean {
  return PRIVATE_BLOCKS.some((block) => cidrContains(block, cidr));
}

/** Returns the first block of this prefix inside `outer` that does not overlap `taken`. */
export function findFreeBlock(outer: Cidr, prefix: number, taken: Cidr[]): Cidr | undefined {
  const size = 2 ** (32 - prefix);
  for (let first = outer.first; first + size - 1 <= outer.last; first += size) {
    const block = { first, last: first + size - 1, prefix };
    if (!taken.some((other) => cidrsOverlap(other, block))) return block;
  }
  return undefined;
}
