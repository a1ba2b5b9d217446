import { isIP, isIPv4 } from 'node:net';
import { contextTag, write } from './der.ts';

/** The names that a certificate is valid for. */

export const uriName = (uri: string) => write(contextTag(6, false), Buffer.from(uri, 'ascii'));

/** A DNS name or an address, as text. */
export function serverName(name: string): Buffer {
  if (isIP(name) !== 0) return write(contextTag(7, false), addressBytes(name));
  if (!/^(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(name) || name.length > 253) {
    throw new Error(`"${name}" is neither a DNS name nor an address`);
  }
  return write(contextTag(2, false), Buffer.from(name, 'ascii'));
}

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  // The URL parser writes any form of an address in groups of hex digits with at most one "::".
  const groups = new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname.slice(1, -1);
  const [head = '', tail] = groups.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  const bytes = Buffer.alloc(16);
  for (const [at, group] of [...before, ...zeros, ...after].entries()) {
    bytes.writeUInt16BE(Number.parseInt(group, 16), at * 2);
  }
  return bytes;
}
