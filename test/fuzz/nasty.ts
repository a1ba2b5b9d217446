import fc from 'fast-check';

/** Values that have broken other services, and JSON that no JavaScript value represents. */

/** Written into the body unchanged. */
export class RawJson {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

const raw = (text: string) => new RawJson(text);
const bytes = (count: number) => 'x'.repeat(count);

const STRINGS = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\u0001\u001b[31m',
  '\r\nset-cookie: a=b',
  '\n',
  '\ud800',
  'a\udc00b',
  '\ufffe\uffff',
  '\u202egnp.exe',
  '\u200b\u200d\ufeff',
  '\u2028\u2029',
  '\ud83d\ude80'.repeat(40),
  'e\u0301'.repeat(60),
  '\u0130stanbul',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'toString',
  "'; drop table vms; --",
  '" or 1=1 --',
  '\\',
  '%s%n%x',
  '{{7*7}}#{7*7}',
  '<script>alert(1)</script>',
  '../../etc/passwd',
  'null',
  'NaN',
  '-1',
  '0',
  '1e308',
  '0x10',
  '99999999999999TiB',
  '0GiB',
  '-1GiB',
  '1.5GiB',
  '1gib',
  '00000000000000000000001GiB',
  '10.0.0.0/33',
  '10.0.0.0/-1',
  '10.0.0.1/8',
  '999.1.1.1/8',
  '10.0.0.0/8/8',
  '0.0.0.0/0',
  '::/0',
  '010.0.0.0/8',
  '0',
  '65536',
  '8080-22',
  '22-',
  '-22',
  '22-22-22',
  '2026-02-30',
  '0000-01-01',
  '9999-12-31',
  '+275760-09-13T00:00:00.001Z',
  '9999-12-31T23:59:59.999Z',
  '0000-00-00T00:00:00Z',
  '#!',
  'ssh-rsa AAAA',
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA==',
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  'a@b',
  'a@b.c\0',
  '\u212a@k.test',
  bytes(64),
  bytes(256),
  bytes(70_000),
];

const NUMBERS = [0, 1, -1, 0.5, 1e308, -1e308, 5e-324, 2 ** 31, 2 ** 53, 2 ** 63, 1e21, 0.1 + 0.2];
const RAW = [
  raw('-0'),
  raw('1e999'),
  raw('-1e999'),
  raw(`1${'0'.repeat(400)}`),
  raw(`0.${'0'.repeat(400)}1`),
  raw('"\\ud800"'),
  raw('"\\u0000"'),
  raw('"\ufeff"'),
  raw('['.repeat(5_000) + ']'.repeat(5_000)),
  raw(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`),
  raw('{"__proto__":{"polluted":true}}'),
  raw('{"constructor":{"prototype":{"polluted":true}}}'),
  raw('{"toJSON":1,"then":1,"length":1e9}'),
  raw('{"a":1,"a":2}'),
];

export const nastyString = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...STRINGS) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 80 }) },
  { weight: 1, arbitrary: fc.string({ maxLength: 20 }) },
);

/** Larger than the limit for bodies, and as large as the limit allows. */
const hugeString = fc.constantFrom(300 * 1024, 255 * 1024).map(bytes);

export const nastyValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 10, arbitrary: nastyString },
  { weight: 4, arbitrary: fc.constantFrom<unknown>(...NUMBERS, null, true, false) },
  { weight: 3, arbitrary: fc.constantFrom<unknown>([], {}, [null], [[]], [{}], ['a', 'a']) },
  { weight: 3, arbitrary: fc.constantFrom<unknown>(...RAW) },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.constant(Array.from({ length: 2_000 }, () => '22')) },
  { weight: 1, arbitrary: hugeString },
);

export const NASTY_MEMBERS = [
  '__proto__',
  'constructor',
  'prototype',
  'toJSON',
  'id',
  'x',
  '',
  '\0',
];

/** Values for a path or a query, already encoded. */
export const nastySegment = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      ...['operations', '.', '..', '%2e%2e', '%2F', '%', '%zz', '%00', '%ff', '%c0%af', '%ud800'],
      ...['a%00b', '%25', '%0d%0aset-cookie:%20a=b', '*', ';', '~', '{vm_id}', '%F0%9F%9A%80'],
      ...['-1', '0', 'null', 'undefined', '__proto__', 'constructor', bytes(5_000)],
      ...['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
      "'%20or%201=1--",
    ),
  },
  { weight: 2, arbitrary: nastyString.map(encoded).filter((text) => text !== '') },
  { weight: 1, arbitrary: fc.stringMatching(/^[A-Za-z0-9_.-]{1,40}$/) },
);

/** Percent-encoded. Invalid Unicode is sent as the bytes that a careless client would send. */
export function encoded(text: string): string {
  return [...text]
    .map((character) => (character.isWellFormed() ? encodeURIComponent(character) : '%ed%a0%80'))
    .join('');
}
