import { describe, expect, it } from 'vitest';
import {
  canonicalEndpointCidr,
  cidrContains,
  cidrsOverlap,
  findFreeBlock,
  formatCidr,
  isPrivate,
  parseCidr,
} from './cidr.ts';

const block = (text: string) => {
  const parsed = parseCidr(text);
  if (!parsed) throw new Error(`${text} is no CIDR`);
  return parsed;
};

describe('parseCidr', () => {
  it.each(['0.0.0.0/0', '10.0.0.0/8', '172.27.16.0/20', '192.168.1.1/32', '255.255.255.255/32'])(
    'takes %s and gives it back unchanged',
    (text) => expect(formatCidr(block(text))).toBe(text),
  );

  it.each([
    '',
    '10.0.0.0',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/08',
    '10.0.0.1/8',
    '256.0.0.0/8',
    '10.0.0/8',
    '010.0.0.0/8',
    '0x0a.0.0.0/8',
    '10.0.0.0/8/8',
    ' 10.0.0.0/8',
    '10.0.0.0/8 ',
    '::/0',
    '1.2.3.4.5/32',
    '167772160/8',
  ])('rejects "%s"', (text) => expect(parseCidr(text)).toBeUndefined());
});

describe('canonicalEndpointCidr', () => {
  it('reads a bare address as its /32', () =>
    expect(canonicalEndpointCidr('1.2.3.4')).toBe('1.2.3.4/32'));
  it('keeps a block', () => expect(canonicalEndpointCidr('1.2.3.0/24')).toBe('1.2.3.0/24'));
  it('rejects a block with host bits', () =>
    expect(canonicalEndpointCidr('1.2.3.4/24')).toBeUndefined());
});

describe('blocks', () => {
  it('contain smaller blocks and not larger or other ones', () => {
    expect(cidrContains(block('10.0.0.0/8'), block('10.1.0.0/16'))).toBe(true);
    expect(cidrContains(block('10.1.0.0/16'), block('10.0.0.0/8'))).toBe(false);
  });
  it('overlap if they share an address', () => {
    expect(cidrsOverlap(block('10.0.0.0/8'), block('10.255.0.0/16'))).toBe(true);
    expect(cidrsOverlap(block('10.0.0.0/16'), block('10.1.0.0/16'))).toBe(false);
  });
  it('are private only if every address is private', () => {
    expect(isPrivate(block('172.27.0.0/16'))).toBe(true);
    expect(isPrivate(block('172.0.0.0/8'))).toBe(false);
    expect(isPrivate(block('8.8.8.0/24'))).toBe(false);
  });
  it('are found free in order until none is left', () => {
    const outer = block('10.0.0.0/22');
    const taken = [block('10.0.0.0/24'), block('10.0.2.0/25')];
    expect(findFreeBlock(outer, 24, taken)).toEqual(block('10.0.1.0/24'));
    expect(findFreeBlock(outer, 22, taken)).toBeUndefined();
  });
});
