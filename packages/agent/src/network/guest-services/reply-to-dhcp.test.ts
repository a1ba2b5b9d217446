import { describe, expect, it } from 'vitest';
import { makeInterface } from '../../testing/make-spec.ts';
import { parseInterface } from '../parse-interface.ts';
import { type DhcpRequest, formatDhcp, parseDhcp } from './dhcp-message.ts';
import { type Lease, replyToDhcp } from './reply-to-dhcp.ts';
import { makeDhcpPacket } from './testing/dhcp-packet.ts';

const SERVER = '169.254.169.254';
const lease: Lease = {
  iface: parseInterface(
    makeInterface('n', { mac: '02:00:00:00:00:0A', privateIpv4: '10.0.0.5/20' }),
  ),
  nameservers: ['192.0.2.53', '2001:db8::53', '192.0.2.54'],
  mtu: 1450,
  hostName: 'web-1',
};
const request = (packet: Parameters<typeof makeDhcpPacket>[0] = {}): DhcpRequest => {
  const parsed = parseDhcp(makeDhcpPacket({ mac: '02:00:00:00:00:0a', ...packet }));
  if (!parsed) throw new Error('not a request');
  return parsed;
};
const bytes = (...addresses: string[]) =>
  Buffer.from(addresses.flatMap((address) => address.split('.').map(Number)));
const optionsOf = (reply: ReturnType<typeof replyToDhcp>) => new Map(reply?.options);

describe('a request', () => {
  it('is parsed with all relevant fields', () => {
    const packet = makeDhcpPacket({
      ...{ kind: 3, mac: '02:00:00:00:00:0a', flags: 0x8000, address: '10.0.0.5' },
      options: [
        [0, bytes()],
        [50, bytes('10.0.0.6')],
        [54, bytes(SERVER)],
        [61, Buffer.from('me')],
      ],
    });
    expect(parseDhcp(packet)).toEqual({
      ...{ kind: 'request', broadcast: true, mac: '02:00:00:00:00:0a', address: '10.0.0.5' },
      ...{ requested: '10.0.0.6', server: SERVER, clientId: Buffer.from('me') },
      transaction: Buffer.from([1, 2, 3, 4]),
    });
  });

  const changed = (at: number, value: number) => {
    const packet = makeDhcpPacket();
    packet[at] = value;
    return packet;
  };
  it.each([
    ['nothing', Buffer.alloc(0)],
    ['less than a header', makeDhcpPacket().subarray(0, 239)],
    ['a reply', changed(0, 2)],
    ['another kind of hardware', changed(1, 6)],
    ['a longer hardware address', changed(2, 16)],
    ['passed on by a relay', changed(27, 1)],
    ['BOOTP without DHCP', changed(236, 0)],
    [
      'an option longer than the packet',
      makeDhcpPacket({ cut: 2, options: [[50, bytes(SERVER)]] }),
    ],
    ['an option without its length', makeDhcpPacket({ cut: 5, options: [[50, bytes(SERVER)]] })],
    ['a kind of request that a server does not reply to', makeDhcpPacket({ kind: 7 })],
  ])('that is %s is ignored', (_, packet) => {
    expect(parseDhcp(packet)).toBeNull();
  });

  it('of arbitrary bytes is parsed or ignored, and never throws', () => {
    let seed = 1;
    const random = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % 256;
    };
    for (let times = 0; times < 2_000; times += 1) {
      const packet = makeDhcpPacket({ options: [[50, bytes(SERVER)]] });
      for (let changes = 0; changes < 8; changes += 1) {
        packet[230 + (random() % (packet.length - 230))] = random();
      }
      const parsed = parseDhcp(packet);
      const reply = parsed && replyToDhcp(parsed, lease);
      if (parsed && reply) formatDhcp(parsed, reply, SERVER);
    }
  });
});

describe('a DHCP server', () => {
  it('offers everything the interface needs', () => {
    const reply = replyToDhcp(request(), lease);
    expect(reply).toMatchObject({ kind: 'offer', address: '10.0.0.5' });
    expect(optionsOf(reply)).toEqual(
      new Map([
        [51, Buffer.from([0, 0, 0xa8, 0xc0])],
        [1, bytes('255.255.240.0')],
        [3, bytes('10.0.0.1')],
        [6, bytes('192.0.2.53', '192.0.2.54')],
        [12, Buffer.from('web-1')],
        [26, Buffer.from([0x05, 0xaa])],
        [121, Buffer.from([32, ...bytes(SERVER, '10.0.0.1'), 0, ...bytes('10.0.0.1')])],
      ]),
    );
  });

  it('offers no gateway and no name if there is none', () => {
    const iface = { ...lease.iface, gateway: null };
    const options = optionsOf(
      replyToDhcp(request(), { ...lease, iface, hostName: 'a b', nameservers: [] }),
    );
    expect([...options.keys()].sort((a, b) => a - b)).toEqual([1, 26, 51, 121]);
    expect(options.get(121)).toEqual(Buffer.from([32, ...bytes(SERVER, '0.0.0.0')]));
  });

  it('ignores another hardware address and a client that accepted another offer', () => {
    expect(replyToDhcp(request({ mac: '02:00:00:00:00:0b' }), lease)).toBeNull();
    const elsewhere = { kind: 3, options: [[54, bytes('10.0.0.9')] as const] };
    expect(replyToDhcp(request(elsewhere), lease)).toBeNull();
  });

  it.each([
    ['asked for', { options: [[50, bytes('10.0.0.5')] as const] }, 'ack'],
    ['that it has', { address: '10.0.0.5' }, 'ack'],
    ['of another', { options: [[50, bytes('10.0.0.6')] as const] }, 'nak'],
    ['that it has and that is another’s', { address: '10.0.0.6' }, 'nak'],
    ['that it does not name', {}, 'nak'],
  ])('replies to a request for an address %s', (_, packet, kind) => {
    const reply = replyToDhcp(request({ kind: 3, ...packet }), lease);
    expect(reply).toMatchObject({ kind, address: kind === 'ack' ? '10.0.0.5' : null });
    if (kind === 'nak') expect(reply?.options).toEqual([]);
  });

  it('sends no lease to a client that asks for information only', () => {
    const reply = replyToDhcp(request({ kind: 8, address: '10.0.0.5' }), lease);
    expect(reply).toMatchObject({ kind: 'ack', address: null });
    expect(optionsOf(reply).has(51)).toBe(false);
    expect(replyToDhcp(request({ kind: 8, address: '10.0.0.6' }), lease)).toBeNull();
  });
});

describe('a reply', () => {
  it('belongs to its request, and is as long as every client expects', () => {
    const asked = request({ flags: 0x8000, options: [[61, Buffer.from('me')]] });
    const packet = formatDhcp(asked, { kind: 'offer', address: '10.0.0.5', options: [] }, SERVER);
    expect(packet.length).toBe(300);
    expect(packet.subarray(0, 12)).toEqual(Buffer.from([2, 1, 6, 0, 1, 2, 3, 4, 0, 0, 0x80, 0]));
    expect(packet.subarray(16, 20)).toEqual(bytes('10.0.0.5'));
    expect(packet.subarray(28, 34)).toEqual(Buffer.from([2, 0, 0, 0, 0, 0x0a]));
    const options = [53, 1, 2, 54, 4, ...bytes(SERVER), 61, 2, ...Buffer.from('me'), 255];
    expect([...packet.subarray(240, 240 + options.length)]).toEqual(options);
  });

  it('that refuses is broadcast, because the client may have a wrong address', () => {
    const packet = formatDhcp(
      request({ kind: 3, address: '10.0.0.6' }),
      { kind: 'nak', address: null, options: [] },
      SERVER,
    );
    expect(packet.readUInt16BE(10)).toBe(0x8000);
    expect(packet.readUInt32BE(12)).toBe(0);
  });
});
