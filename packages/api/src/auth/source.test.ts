import { expect, it } from 'vitest';
import { networkOf, sourceOf } from './source.ts';

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['192.0.2.7:4711', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::6', '2001:db8:1:2::/64'],
  ['[2001:db8:1:2::7]:443', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['no:address', 'no_address'],
  ['', ''],
])('the source of %s is %s', (ip, source) => {
  expect(sourceOf(ip)).toBe(source);
});

it('addresses of one /64 are one source, and those of different ones are not', () => {
  expect(sourceOf('2001:db8::1')).toBe(sourceOf('2001:db8::ffff:ffff:ffff:ffff'));
  expect(sourceOf('2001:db8::1')).not.toBe(sourceOf('2001:db8:0:1::1'));
  expect(sourceOf('192.0.2.1')).not.toBe(sourceOf('192.0.2.2'));
});

it('the network of an address is its /16 or its /32', () => {
  expect(networkOf('192.0.2.7')).toBe('192.0');
  expect(networkOf('::ffff:192.0.2.7')).toBe('192.0');
  expect(networkOf('2001:db8:1:2::1')).toBe('2001:db8::/32');
  expect(networkOf(sourceOf('2001:db8:1:2::1'))).toBe('2001:db8::/32');
});
