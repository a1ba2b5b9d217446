import { isIP } from 'node:net';

/**
 * Tells whether the address can be fenced: an address alone, which means every client there, or one with a port and a
 * nonce (`10.0.0.1:0/1234`, `[fd00::1]:0/1234`), which means one client.
 */
export function isFenceable(address: string): boolean {
  const { ip, client } = split(address);
  return isIP(ip) !== 0 && (client === '' || /^:\d{1,5}\/\d{1,10}$/.test(client));
}

/** Tells whether a fence of the first address also fences the client, whose address has a port and a nonce. */
export function fenceCovers(fenced: string, client: string): boolean {
  return fenced === client || fenced === split(client).ip;
}

function split(address: string): { ip: string; client: string } {
  if (isIP(address) !== 0) return { ip: address, client: '' };
  const [, ip6, ip4, client] = /^(?:\[([^\]]*)\]|([^:]*))(.*)$/.exec(address) ?? [];
  return { ip: ip6 ?? ip4 ?? '', client: client ?? '' };
}
