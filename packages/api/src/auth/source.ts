import { isIPv6 } from 'node:net';

/**
 * The source of a request, for limits: an IPv4 address, or the /64 of an IPv6 address, because a
 * single customer of an access provider has a whole /64.
 */
export function sourceOf(ip: string): string {
  const address = plain(ip);
  return address.includes(':') ? `${groupsOf(address).slice(0, 4).join(':')}::/64` : address;
}

/** The wider network of an address or a source: the /16 of an IPv4 address, or the /32 of an IPv6 address. */
export function networkOf(ip: string): string {
  const address = plain(ip);
  if (address.includes(':')) return `${groupsOf(address).slice(0, 2).join(':')}::/32`;
  return address.split('.').slice(0, 2).join('.');
}

const MAPPED = /^::ffff:(?=\d+\.)/i;
const BRACKETED = /^\[([^\]]+)\](?::\d+)?$/;
const WITH_PORT = /^(\d+\.\d+\.\d+\.\d+):\d+$/;

/** Proxies forward addresses in several forms. Text that is no address is a source of its own. */
function plain(ip: string): string {
  if (!ip.includes(':')) return ip;
  const address = ip
    .replace(BRACKETED, '$1')
    .replace(WITH_PORT, '$1')
    .replace(MAPPED, '')
    .replace(/\/64$/, '')
    .replace(/%.*$/, '');
  return isIPv6(address) || !address.includes(':') ? address : address.replaceAll(':', '_');
}

const GROUPS = 8;

/** "2001:db8::1" -> ["2001", "db8", "0", "0", "0", "0", "0", "1"] */
function groupsOf(address: string): string[] {
  const [head = '', tail] = address.toLowerCase().split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from(
    { length: Math.max(0, GROUPS - before.length - after.length) },
    () => '0',
  );
  return [...before, ...zeros, ...after].map((group) => group.replace(/^0+(?=.)/, ''));
}
