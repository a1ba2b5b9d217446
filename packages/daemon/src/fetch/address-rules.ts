import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/**
 * Which addresses requests to URLs of tenants may be sent to. The control plane sends from inside the operators' network, so
 * every address is checked that a connection is made to: the result of the same lookup, after the name was resolved. A name
 * that has an allowed and a forbidden address is refused.
 */
export type AddressRules = {
  /** Also addresses of private networks. */
  allowsPrivate: boolean;
  /** Also this machine, and http: for development. */
  allowsLoopback: boolean;
};

type Range = readonly [string, number];

const LOOPBACK: readonly Range[] = [
  ['127.0.0.0', 8],
  ['::1', 128],
];
const PRIVATE: readonly Range[] = [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  // Shared by the customers of a provider.
  ['100.64.0.0', 10],
  ['fc00::', 7],
];
/** Never the address of a server that other networks reach. Link-local ranges have the metadata services of clouds. */
const NEVER: readonly Range[] = [
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  // Outside of what is assigned to hosts. It includes the unspecified address and IPv4 addresses in other forms, such as ::127.0.0.1.
  ['::', 3],
  ['4000::', 2],
  ['8000::', 1],
  // Tunnels and translators to IPv4 addresses, and addresses for documentation.
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** Each family has a list of its own, because a list compares an IPv4 address with IPv6 ranges too. */
function matcherOf(ranges: readonly Range[]): (address: string) => boolean {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const [network, prefix] of ranges) {
    const family = familyOf(network);
    lists[family].addSubnet(network, prefix, family);
  }
  return (address) => lists[familyOf(address)].check(address, familyOf(address));
}

const isLoopback = matcherOf(LOOPBACK);
const isPrivate = matcherOf(PRIVATE);
const isNever = matcherOf(NEVER);

export function isAllowed(address: string, rules: AddressRules): boolean {
  const plain = unmapped(address);
  if (isLoopback(plain)) return rules.allowsLoopback;
  if (plain === METADATA_V6) return false;
  if (isPrivate(plain)) return rules.allowsPrivate;
  return !isNever(plain);
}

/** The metadata service of a large cloud, inside the private range. */
const METADATA_V6 = 'fd00:ec2::254';

/** ::ffff:10.0.0.1 and ::ffff:a00:1 are 10.0.0.1 to the kernel. */
function unmapped(address: string): string {
  if (isIP(address) !== 6) return address;
  const canonical = new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical) ?? [];
  if (high === undefined || low === undefined) return canonical;
  const bytes = Buffer.alloc(4);
  bytes.writeUInt16BE(Number.parseInt(high, 16), 0);
  bytes.writeUInt16BE(Number.parseInt(low, 16), 2);
  return bytes.join('.');
}

/** Its message may be shown to the tenant that chose the URL. */
export class AddressRefused extends Error {
  override name = 'AddressRefused';
}

const forbidden = () =>
  new AddressRefused('the name of the URL has an address that requests may not be sent to');

/** Returns all addresses of a name. */
export type Resolve = (
  hostname: string,
  options: { all: true; verbatim: boolean },
) => Promise<LookupAddress[]>;

/**
 * Resolves a name for a connection. The connection is made to the addresses that were checked, and the name is not resolved
 * again, so a name whose address changes in between gains nothing.
 */
export function checkedLookup(rules: AddressRules, resolve: Resolve = lookup): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { all: true, verbatim: true }).then(
      (addresses) => {
        const [first] = addresses;
        if (!first || addresses.some(({ address }) => !isAllowed(address, rules)))
          callback(forbidden(), '', 0);
        else if (options.all) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    );
  };
}

/** Returns why no request may be sent to a URL; undefined if it may. Names are resolved later. */
export function urlProblem(text: string, rules: AddressRules): string | undefined {
  if (!URL.canParse(text)) return 'must be a URL such as https://example.com/path';
  const url = new URL(text);
  const schemes = rules.allowsLoopback ? ['https:', 'http:'] : ['https:'];
  if (!schemes.includes(url.protocol)) return 'must begin with https://';
  if (url.username !== '' || url.password !== '') return 'must not contain a user or a password';
  if (url.hash !== '') return 'must not contain a fragment';
  const address = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0 && !isAllowed(address, rules))
    return 'must not be an address of a private network, of this machine, or of no server';
  return undefined;
}
