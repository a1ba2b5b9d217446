import { describe, expect, it } from 'vitest';
import { checkedLookup, isAllowed, urlProblem } from './address-rules.ts';

const PUBLIC = { allowsPrivate: false, allowsLoopback: false };
const PRIVATE = { allowsPrivate: true, allowsLoopback: false };
const ANY = { allowsPrivate: true, allowsLoopback: true };

const LOOPBACK = ['127.0.0.1', '127.255.255.254', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1'];
const PRIVATE_NETWORKS = [
  ...['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '100.64.0.1', '100.127.255.255'],
  ...['fc00::1', 'fd12:3456::1', '::ffff:10.0.0.1', '::ffff:c0a8:101'],
];
const NO_SERVERS = [
  ...['0.0.0.0', '0.1.2.3', '169.254.169.254', '192.0.0.8', '192.0.2.1', '198.18.0.1'],
  ...[
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
  ],
  ...['::', '::127.0.0.1', '::ffff:0:10.0.0.1', '::ffff:169.254.169.254', '64:ff9b::a9fe:a9fe'],
  ...['64:ff9b:1::1', '100::1', '2001::1', '2001:db8::1', '2002:7f00:1::1', '3fff::1', '4000::1'],
  ...['fe80::1', 'fe80::1%eth0', 'febf::1', 'fec0::1', 'ff02::1', 'fd00:ec2::254'],
];
const SERVERS = [
  '8.8.8.8',
  '172.32.0.1',
  '100.128.0.1',
  '192.169.0.1',
  '2606:4700::1111',
  '2a00::1',
];

describe('addresses', () => {
  it.each(LOOPBACK)('%s is this machine, and allowed for development only', (address) => {
    expect([PUBLIC, PRIVATE, ANY].map((rules) => isAllowed(address, rules))).toEqual([
      ...[false, false, true],
    ]);
  });

  it.each(PRIVATE_NETWORKS)('%s is private, and allowed by the operators only', (address) => {
    expect([PUBLIC, PRIVATE, ANY].map((rules) => isAllowed(address, rules))).toEqual([
      ...[false, true, true],
    ]);
  });

  it.each(NO_SERVERS)('%s is never allowed', (address) => {
    expect([PUBLIC, PRIVATE, ANY].map((rules) => isAllowed(address, rules))).toEqual([
      ...[false, false, false],
    ]);
  });

  it.each(SERVERS)('%s is allowed', (address) => {
    expect(isAllowed(address, PUBLIC)).toBe(true);
  });
});

describe('URLs', () => {
  it.each([
    ['https://example.com/hook?a=b', undefined],
    ['https://8.8.8.8:8443/', undefined],
    ['http://example.com/', 'https'],
    ['ftp://example.com/', 'https'],
    ['file:///etc/passwd', 'https'],
    ['example.com', 'URL'],
    ['', 'URL'],
    ['https://user@example.com/', 'user'],
    ['https://:secret@example.com/', 'password'],
    ['https://example.com/#part', 'fragment'],
    ['https://127.0.0.1/', 'private'],
    // Other ways to write 127.0.0.1 and 169.254.169.254.
    ['https://2130706433/', 'private'],
    ['https://0x7f.1/', 'private'],
    ['https://0177.0.0.1/', 'private'],
    ['https://127.1/', 'private'],
    ['https://[::ffff:127.0.0.1]/', 'private'],
    ['https://[::1]/', 'private'],
    ['https://0xa9fea9fe/', 'private'],
  ])('%s: %s', (url, problem) => {
    const found = urlProblem(url, PUBLIC);
    if (problem === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(problem);
  });

  it('http and this machine are allowed for development', () => {
    expect(urlProblem('http://127.0.0.1:8080/', ANY)).toBeUndefined();
  });
});

describe('names', () => {
  const resolve = (...addresses: string[]) =>
    new Promise((done, fail) => {
      const found = addresses.map((address) => ({
        address,
        family: address.includes(':') ? 6 : 4,
      }));
      const lookup = checkedLookup(PUBLIC, () => Promise.resolve(found));
      lookup('example.com', { all: true }, (error, all) => (error ? fail(error) : done(all)));
    });

  it('a name with a forbidden address among its addresses is refused', async () => {
    await expect(resolve('8.8.8.8', '10.0.0.1')).rejects.toThrow('may not be sent to');
    await expect(resolve('2606:4700::1111', '::ffff:10.0.0.1')).rejects.toThrow('may not be');
    await expect(resolve()).rejects.toThrow('may not be sent to');
  });

  it('a connection is made to the addresses that were checked', async () => {
    expect(await resolve('8.8.8.8', '2606:4700::1111')).toEqual([
      { address: '8.8.8.8', family: 4 },
      { address: '2606:4700::1111', family: 6 },
    ]);
  });
});
